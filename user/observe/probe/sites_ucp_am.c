// SPDX-License-Identifier: BSD-3-Clause
/*
 * UCP active-message handlers: (worker, header, length, am_flags), UCP_DEFINE_AM* in the sources,
 * the same names since 1.13. They are what an interface
 * calls under either protocol: for protocol v2 the handlers of ids 8, 10, 11 and 16 forward
 * to ucp_proto_* functions (ucp_proto_rndv_handle_rtr, ...), which no interface calls by itself and
 * which have no row, so that an arrival makes one record.
 *
 * Fragments behind a first one (ids 4, 12 and 25) come once per 8 KiB and carry nothing that it
 * lacks. Id 15's handler is static: plan.c finds it through the exported ucp_am_handler_t.
 */
#include "observe/probe/sites_tables.h"

#include "base/array.h"

#define AM(id, symbol, name)                                                                       \
	SITE(symbol, name, LAYER_UCP, .kind = UB_RX, .am_id = (id), .arg_obj = 1, .arg_aux = 2,    \
	     .arg_count = 3, .arg_tag = 4)

static const struct site rows[] = {
	AM(2, "ucp_eager_only_handler", "eager_only"),
	AM(3, "ucp_eager_first_handler", "eager_first"),
	AM(6, "ucp_eager_sync_only_handler", "eager_sync_only"),
	AM(7, "ucp_eager_sync_first_handler", "eager_sync_first"),
	AM(8, "ucp_eager_sync_ack_handler", "eager_sync_ack"),
	AM(9, "ucp_rndv_rts_handler", "rndv_rts"),
	AM(10, "ucp_rndv_ats_handler", "rndv_ats"),
	AM(11, "ucp_rndv_rtr_handler", "rndv_rtr"),
	AM(14, "ucp_eager_offload_sync_ack_handler", "offload_sync_ack"),
	AM(15, "ucp_stream_am_handler", "stream_data"),
	AM(16, "ucp_rndv_atp_handler", "rndv_atp"),
	AM(17, "ucp_put_handler", "put"),
	AM(18, "ucp_get_req_handler", "get_req"),
	AM(19, "ucp_get_rep_handler", "get_rep"),
	AM(20, "ucp_atomic_req_handler", "atomic_req"),
	AM(21, "ucp_atomic_rep_handler", "atomic_rep"),
	AM(22, "ucp_rma_cmpl_handler", "rma_cmpl"),
	AM(23, "ucp_am_handler", "am_single"),
	AM(24, "ucp_am_long_first_handler", "am_first"),
	AM(26, "ucp_am_handler_reply", "am_single_reply"),
};

const struct site_table sites_ucp_am = { rows, ARRAY_SIZE(rows), 0, NULL };
