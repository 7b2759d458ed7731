// SPDX-License-Identifier: BSD-3-Clause
/*
 * UCP operations. Only the nbx forms and functions that do not call one: in stock builds (checked
 * in Debian's 1.13.1, same calls in the sources of 1.16.0 and 1.18.1) every *_nb, *_nbi, *_nbr and
 * blocking put, get or atomic calls the nbx form through the PLT, and a row for it would count
 * twice. ucp_ep_flush and ucp_worker_flush do not; they return a bare ucs_status_t (one byte).
 *
 * ucp_worker_fence moves no data and is left out.
 */
#include "observe/probe/sites_tables.h"

#include "base/array.h"

#define OP(symbol, name, ...)                                                                      \
	SITE(symbol, name, LAYER_UCP, .kind = UB_OP, .needs_return = 1, .arg_obj = 1, __VA_ARGS__)

/* Blocking, with user callbacks inside: entry only. */
#define CALL(symbol, name) SITE(symbol, name, LAYER_UCP, .kind = UB_OP, .arg_obj = 1)

/* The same for those on a worker. */
#define WORKER_OP(symbol, name, ...)                                                               \
	SITE_ROW(symbol, name, LAYER_UCP, -1, true, .kind = UB_OP, .needs_return = 1,              \
		 .arg_obj = 1, __VA_ARGS__)
#define WORKER_CALL(symbol, name)                                                                  \
	SITE_ROW(symbol, name, LAYER_UCP, -1, true, .kind = UB_OP, .arg_obj = 1)

static const struct site rows[] = {
	/* clang-format off */
	/* (ep, buffer, count, tag, param) */
	OP("ucp_tag_send_nbx", "tag_send",
	   .arg_buffer = 2, .arg_count = 3, .arg_tag = 4, .arg_param = 5),
	OP("ucp_tag_send_sync_nbx", "tag_send_sync",
	   .arg_buffer = 2, .arg_count = 3, .arg_tag = 4, .arg_param = 5),
	/* (worker, buffer, count, tag, tag_mask, param) */
	WORKER_OP("ucp_tag_recv_nbx", "tag_recv",
	   .what = UB_OP_TAG_RECV, .arg_buffer = 2, .arg_count = 3, .arg_tag = 4, .arg_aux = 5, .arg_param = 6),
	/* (worker, buffer, count, message, param) */
	WORKER_OP("ucp_tag_msg_recv_nbx", "tag_msg_recv",
	   .what = UB_OP_TAG_RECV, .arg_buffer = 2, .arg_count = 3, .arg_aux = 4, .arg_param = 5),
	/*
	 * (worker, tag, tag_mask, remove, info): returns a message handle, NULL = nothing there.
	 * Hot where an application polls: NULL returns make no record. The count is "remove".
	 */
	WORKER_OP("ucp_tag_probe_nb", "tag_probe",
	   .what = UB_OP_PROBE, .arg_tag = 2, .arg_aux = 3, .arg_count = 4, .arg_info = 5),
	/* (ep, id, header, header_length, buffer, count, param) */
	OP("ucp_am_send_nbx", "am_send",
	   .arg_tag = 2, .arg_aux = 4, .arg_buffer = 5, .arg_count = 6, .arg_param = 7),
	/* (worker, data_desc, buffer, count, param) */
	WORKER_OP("ucp_am_recv_data_nbx", "am_recv_data",
	   .arg_aux = 2, .arg_buffer = 3, .arg_count = 4, .arg_param = 5),
	/* (ep, buffer, count, param) */
	OP("ucp_stream_send_nbx", "stream_send",
	   .arg_buffer = 2, .arg_count = 3, .arg_param = 4),
	/* (ep, buffer, count, length *, param) */
	OP("ucp_stream_recv_nbx", "stream_recv",
	   .what = UB_OP_SIZE_OUT, .arg_buffer = 2, .arg_count = 3, .arg_info = 4, .arg_param = 5),
	/* (ep, length *): returns the data, NULL = nothing there, never a request */
	OP("ucp_stream_recv_data_nb", "stream_recv_data", .what = UB_OP_DATA_OUT, .arg_info = 2),
	/* (ep, buffer, count, remote_addr, rkey, param) */
	OP("ucp_put_nbx", "put",
	   .arg_buffer = 2, .arg_count = 3, .arg_tag = 4, .arg_aux = 5, .arg_param = 6),
	OP("ucp_get_nbx", "get",
	   .arg_buffer = 2, .arg_count = 3, .arg_tag = 4, .arg_aux = 5, .arg_param = 6),
	/* (ep, opcode, buffer, count, remote_addr, rkey, param) */
	OP("ucp_atomic_op_nbx", "atomic",
	   .arg_buffer = 3, .arg_count = 4, .arg_tag = 5, .arg_aux = 6, .arg_param = 7),
	/* (ep, param), (worker, param) */
	OP("ucp_ep_flush_nbx", "ep_flush", .arg_param = 2),
	WORKER_OP("ucp_worker_flush_nbx", "worker_flush", .arg_param = 2),
	OP("ucp_ep_close_nbx", "ep_close", .arg_param = 2),
	CALL("ucp_ep_flush", "ep_flush"),
	WORKER_CALL("ucp_worker_flush", "worker_flush"),
	/* (worker, request): returns nothing */
	WORKER_OP("ucp_request_cancel", "request_cancel", .what = UB_OP_CANCEL, .arg_aux = 2),
	/* clang-format on */
};

const struct site_table sites_ucp_ops = { rows, ARRAY_SIZE(rows), LIB_UCP, NULL };
