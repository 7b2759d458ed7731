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
#include "ucxbpf_am.h"

#define OP(symbol, name, ...)                                                                      \
	SITE(symbol, name, LEVEL_UCP, .kind = UB_OP, .needs_return = 1, .arg_obj = 1, __VA_ARGS__)

/* Blocking, with user callbacks inside: entry only. */
#define CALL(symbol, name) SITE(symbol, name, LEVEL_UCP, .kind = UB_OP, .arg_obj = 1)

/* The same for those on a worker. */
#define WORKER_OP(symbol, name, ...)                                                               \
	SITE_ROW(symbol, name, LEVEL_UCP, -1, true, .kind = UB_OP, .needs_return = 1,              \
		 .arg_obj = 1, __VA_ARGS__)
#define WORKER_CALL(symbol, name)                                                                  \
	SITE_ROW(symbol, name, LEVEL_UCP, -1, true, .kind = UB_OP, .arg_obj = 1)

static const struct site rows[] = {
	/* clang-format off */
	/* (ep, buffer, count, tag, param) */
	OP("ucp_tag_send_nbx", "tag_send", .what = UB_OP_TAG_SEND, .may_short = 1,
	   .arg_buffer = 2, .arg_count = 3, .arg_tag = 4, .arg_param = 5),
	OP("ucp_tag_send_sync_nbx", "tag_send_sync", .may_short = 1,
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
	OP("ucp_am_send_nbx", "am_send", .may_short = 1,
	   .arg_tag = 2, .arg_aux = 4, .arg_buffer = 5, .arg_count = 6, .arg_param = 7),
	/* (worker, data_desc, buffer, count, param) */
	WORKER_OP("ucp_am_recv_data_nbx", "am_recv_data",
	   .arg_aux = 2, .arg_buffer = 3, .arg_count = 4, .arg_param = 5),
	/* (ep, buffer, count, param) */
	OP("ucp_stream_send_nbx", "stream_send", .may_short = 1,
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
	OP("ucp_ep_close_nbx", "ep_close", .what = UB_OP_CLOSE, .arg_param = 2),
	CALL("ucp_ep_flush", "ep_flush"),
	WORKER_CALL("ucp_worker_flush", "worker_flush"),
	/* (worker, request): returns nothing */
	WORKER_OP("ucp_request_cancel", "request_cancel", .what = UB_OP_CANCEL, .arg_aux = 2),
	/* clang-format on */
};

const struct site_table sites_ucp_ops = { rows, ARRAY_SIZE(rows), LIB_UCP, NULL };

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

#define AM(id, symbol, name)                                                                       \
	SITE(symbol, name, LEVEL_UCP, .kind = UB_RX, .am_id = (id), .arg_obj = 1, .arg_aux = 2,    \
	     .arg_count = 3, .arg_tag = 4)

static const struct site am_rows[] = {
	AM(AM_EAGER_ONLY, "ucp_eager_only_handler", "eager_only"),
	AM(AM_EAGER_FIRST, "ucp_eager_first_handler", "eager_first"),
	AM(AM_SYNC_ONLY, "ucp_eager_sync_only_handler", "eager_sync_only"),
	AM(AM_SYNC_FIRST, "ucp_eager_sync_first_handler", "eager_sync_first"),
	AM(AM_SYNC_ACK, "ucp_eager_sync_ack_handler", "eager_sync_ack"),
	AM(AM_RTS, "ucp_rndv_rts_handler", "rndv_rts"),
	AM(AM_ATS, "ucp_rndv_ats_handler", "rndv_ats"),
	AM(AM_RTR, "ucp_rndv_rtr_handler", "rndv_rtr"),
	AM(AM_OFFLOAD_SYNC_ACK, "ucp_eager_offload_sync_ack_handler", "offload_sync_ack"),
	AM(AM_STREAM, "ucp_stream_am_handler", "stream_data"),
	AM(AM_ATP, "ucp_rndv_atp_handler", "rndv_atp"),
	AM(AM_PUT, "ucp_put_handler", "put"),
	AM(AM_GET_REQ, "ucp_get_req_handler", "get_req"),
	AM(AM_GET_REP, "ucp_get_rep_handler", "get_rep"),
	AM(AM_ATOMIC_REQ, "ucp_atomic_req_handler", "atomic_req"),
	AM(AM_ATOMIC_REP, "ucp_atomic_rep_handler", "atomic_rep"),
	AM(AM_CMPL, "ucp_rma_cmpl_handler", "rma_cmpl"),
	AM(AM_SINGLE, "ucp_am_handler", "am_single"),
	AM(AM_FIRST, "ucp_am_long_first_handler", "am_first"),
	AM(AM_SINGLE_REPLY, "ucp_am_handler_reply", "am_single_reply"),
};

const struct site_table sites_ucp_am = { am_rows, ARRAY_SIZE(am_rows), 0, NULL };

/*
 * UCP besides operations and arrivals: completions, the meeting of an RTS with its receive, and the
 * life of workers and endpoints. Prototypes: sources of 1.13.1, same in 1.16.0 and 1.18.1.
 *
 * Completions: arg_comp = uct_completion_t *, arg_obj = the user's request handle, arg_aux =
 * status, arg_info = ucp_tag_recv_info_t *.
 *
 * Objects: arg_obj = the object or, for a function that makes one, where it is stored on success;
 * arg_param = parameter struct; arg_aux = parent. The packed address of a worker is stored at
 * arg_tag.
 */

#define COMP(symbol, name, comp_what, ...)                                                         \
	SITE(symbol, name, LEVEL_UCP, .kind = UB_COMP, .what = (comp_what), __VA_ARGS__)
#define COMP_UCT(symbol) COMP(symbol, "uct_completion", UB_COMP_UCT, .arg_comp = 1)
#define SEND_CB(symbol) COMP(symbol, "send_callback", UB_COMP_SEND_CB, .arg_obj = 1, .arg_aux = 2)
#define RECV_CB(symbol)                                                                            \
	COMP(symbol, "recv_callback", UB_COMP_RECV_CB, .arg_obj = 1, .arg_aux = 2, .arg_info = 3)
#define OBJ(symbol, name, obj_what, ...)                                                           \
	SITE(symbol, name, LEVEL_UCP, .kind = UB_OBJ, .what = (obj_what), __VA_ARGS__)

static const struct site rest_rows[] = {
	/* Addresses learnt at run time. No ELF file has symbols of these names. */
	COMP_UCT("uct_completion_t.func"),
	SEND_CB("ucp_request_param_t.cb.send"),
	RECV_CB("ucp_request_param_t.cb.recv"),

	/* Exported by stock libraries */
	COMP_UCT("ucp_rndv_get_completion"),
	COMP_UCT("ucp_rndv_put_completion"),
	COMP_UCT("ucp_rndv_recv_frag_get_completion"),
	COMP_UCT("ucp_rndv_recv_frag_put_completion"),
	COMP_UCT("ucp_rndv_send_frag_put_completion"),
	COMP_UCT("ucp_rndv_put_pipeline_frag_get_completion"),
	COMP_UCT("ucp_rndv_rkey_ptr_frag_completion"),
	COMP_UCT("ucp_proto_am_zcopy_completion"),
	COMP_UCT("ucp_proto_request_zcopy_completion"),
	COMP_UCT("ucp_tag_eager_zcopy_completion"),
	COMP_UCT("ucp_tag_eager_sync_zcopy_completion"),
	COMP_UCT("ucp_ep_flush_completion"),

	/* Static, address taken: found where .symtab was kept, learnt at run time elsewhere */
	COMP_UCT("ucp_am_zcopy_completion"),
	COMP_UCT("ucp_am_eager_zcopy_completion"),
	COMP_UCT("ucp_rndv_am_zcopy_completion"),
	COMP_UCT("ucp_rma_request_bcopy_completion"),
	COMP_UCT("ucp_rma_request_zcopy_completion"),
	COMP_UCT("ucp_proto_get_offload_bcopy_completion"),
	COMP_UCT("ucp_proto_amo_completion"),
	COMP_UCT("ucp_proto_amo_completion_mtype"),
	COMP_UCT("ucp_proto_rndv_get_zcopy_fetch_completion"),
	COMP_UCT("ucp_proto_rndv_put_zcopy_completion"),
	COMP_UCT("ucp_tag_offload_rndv_zcopy_completion"),

	/* Open MPI's callbacks: mca_pml_ucx.so of 4.1.4; *_nbx_* for UCX with ucp_tag_*_nbx */
	SEND_CB("mca_pml_ucx_send_completion"),
	SEND_CB("mca_pml_ucx_send_nbx_completion"),
	SEND_CB("mca_pml_ucx_bsend_completion"),
	SEND_CB("mca_pml_ucx_bsend_nbx_completion"),
	SEND_CB("mca_pml_ucx_psend_completion"),
	RECV_CB("mca_pml_ucx_recv_completion"),
	RECV_CB("mca_pml_ucx_recv_nbx_completion"),
	RECV_CB("mca_pml_ucx_precv_completion"),

	COMP("ucp_request_free", "request_free", UB_COMP_REQ_FREE, .arg_obj = 1),
	COMP("ucp_request_release", "request_release", UB_COMP_REQ_FREE, .arg_obj = 1),

	/* (worker, receive request, RTS header, length): for an expected and an unexpected RTS
	   alike */
	SITE("ucp_tag_rndv_matched", "rndv_matched", LEVEL_UCP, .kind = UB_MATCH, .arg_obj = 1,
	     .arg_aux = 2, .arg_buffer = 3, .arg_count = 4),

	/* (context, params, worker *) */
	OBJ("ucp_worker_create", "worker_create", UB_OBJ_WORKER_CREATE, .needs_return = 1,
	    .arg_param = 2, .arg_obj = 3),
	/* (worker, address **, length *) */
	OBJ("ucp_worker_get_address", "worker_get_address", UB_OBJ_WORKER_ADDRESS,
	    .needs_return = 1, .arg_obj = 1, .arg_tag = 2),
	OBJ("ucp_worker_destroy", "worker_destroy", UB_OBJ_WORKER_DESTROY, .arg_obj = 1),
	/* (worker, params, ep *) */
	OBJ("ucp_ep_create", "ep_create", UB_OBJ_UCP_EP_CREATE, .needs_return = 1, .arg_aux = 1,
	    .arg_param = 2, .arg_obj = 3),
	/*
	 * (worker, ep, uuid, ...): an endpoint waits for its peer's side, on whichever side it was
	 * made. src/ucp/wireup/ep_match.c
	 */
	OBJ("ucp_ep_match_insert", "ep_match", UB_OBJ_UCP_EP_PEER, .arg_aux = 1, .arg_obj = 2,
	    .arg_tag = 3),
	/* (ep): runs once, when the last reference goes, whichever way the endpoint is closed */
	OBJ("ucp_ep_destroy_base", "ep_destroy", UB_OBJ_UCP_EP_DESTROY, .arg_obj = 1),
	/* (context, params, memh *), (context, memh) */
	OBJ("ucp_mem_map", "mem_map", UB_OBJ_MEM_MAP, .needs_return = 1, .arg_param = 2,
	    .arg_obj = 3),
	OBJ("ucp_mem_unmap", "mem_unmap", UB_OBJ_MEM_UNMAP, .arg_obj = 2),
};

/*
 * Functions that UCX calls where something has failed, and nowhere else: arg_obj is the endpoint or
 * the request, arg_aux the status. Stock builds of 1.13 to 1.20 export them, with the same
 * prototypes. Requests are completed by inlined code, so that other errors pass through no function
 * of their own: those of transfers that were under way, and of rendezvous that are too long.
 */
static const struct site error_rows[] = {
	/* (ep, lane, status) */
	COMP("ucp_ep_set_failed", "endpoint", UB_COMP_EP_FAILED, .arg_obj = 1, .arg_aux = 3),
	/* (request, ...): only for the first fragment that has no room */
	COMP("ucp_request_recv_msg_truncated", "operation", UB_COMP_TRUNCATED, .arg_obj = 1),
	/* (tag matching, request): whether it was there; called by ucp_request_cancel() alone */
	COMP("ucp_tag_exp_remove", "operation", UB_COMP_CANCELLED, .arg_obj = 2, .needs_return = 1),
	/* (request, status), (ep, request, status, ...): protocol v1 */
	COMP("ucp_request_send_state_ff", "operation", UB_COMP_GIVEN_UP, .arg_obj = 1,
	     .arg_aux = 2),
	COMP("ucp_ep_req_purge", "operation", UB_COMP_GIVEN_UP, .arg_obj = 2, .arg_aux = 3),
	/* (request, status): protocol v2 */
	COMP("ucp_proto_request_abort", "operation", UB_COMP_GIVEN_UP, .arg_obj = 1, .arg_aux = 2),
};

const struct site_table sites_ucp_errors = { error_rows, ARRAY_SIZE(error_rows), LIB_UCP, NULL };

const struct site_table sites_ucp_rest = { rest_rows, ARRAY_SIZE(rest_rows), 0, NULL };
