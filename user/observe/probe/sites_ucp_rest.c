// SPDX-License-Identifier: BSD-3-Clause
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
#include "observe/probe/sites_tables.h"

#include "base/array.h"

#define COMP(symbol, name, comp_what, ...)                                                         \
	SITE(symbol, name, LAYER_UCP, .kind = UB_COMP, .what = (comp_what), __VA_ARGS__)
#define COMP_UCT(symbol) COMP(symbol, "uct_completion", UB_COMP_UCT, .arg_comp = 1)
#define SEND_CB(symbol) COMP(symbol, "send_callback", UB_COMP_SEND_CB, .arg_obj = 1, .arg_aux = 2)
#define RECV_CB(symbol)                                                                            \
	COMP(symbol, "recv_callback", UB_COMP_RECV_CB, .arg_obj = 1, .arg_aux = 2, .arg_info = 3)
#define OBJ(symbol, name, obj_what, ...)                                                           \
	SITE(symbol, name, LAYER_UCP, .kind = UB_OBJ, .what = (obj_what), __VA_ARGS__)

static const struct site rows[] = {
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
	SITE("ucp_tag_rndv_matched", "rndv_matched", LAYER_UCP, .kind = UB_MATCH, .arg_obj = 1,
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
};

const struct site_table sites_ucp_rest = { rows, ARRAY_SIZE(rows), 0, NULL };
