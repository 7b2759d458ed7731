/* SPDX-License-Identifier: BSD-3-Clause */
/* The sites that made-up records come from. */
#ifndef TESTS_UNIT_MATCH_SITES_H
#define TESTS_UNIT_MATCH_SITES_H

#include <stdint.h>

#include "ucxbpf.h"

enum job_site {
	AT_MPI_SEND = 1,
	AT_MPI_RECV,
	AT_TAG_SEND,
	AT_TAG_RECV,
	AT_TAG_MSG_RECV,
	AT_TAG_PROBE,
	AT_GET,
	AT_AM_SEND,
	AT_AM_SHORT,
	AT_AM_BCOPY,
	AT_GET_ZCOPY,
	AT_PUT_ZCOPY,
	AT_GET_SHORT,
	AT_PUT_SHORT,
	AT_RX_EAGER,
	AT_RX_FIRST,
	AT_RX_RTS,
	AT_RX_GET_REQ,
	AT_RX_ATS,
	AT_RX_RTR,
	AT_RX_ATP,
	AT_RX_AM,
	AT_SEND_CB,
	AT_RECV_CB,
	AT_UCT_COMP,
	AT_REQ_FREE,
	AT_MATCHED,
	AT_WORKER,
	AT_EP,
	AT_IFACE,
	AT_MEM_ALLOC,
	AT_MEM_HOST,
	AT_MEM_FREE,
	AT_MEM_EXPORT,
	AT_MEM_IMPORT,
	AT_RUNTIME,
	AT_CTX_RETAIN,
	AT_CTX_SET,
	AT_TASK,
	AT_LOSS,
	JOB_SITES
};

static const struct {
	const char *symbol, *name;
	uint8_t kind, what, am_id;
} job_sites[JOB_SITES] = {
	[AT_MPI_SEND] = { "PMPI_Send", "MPI_Send", UB_CALL, 0, 0 },
	[AT_MPI_RECV] = { "PMPI_Recv", "MPI_Recv", UB_CALL, 0, 0 },
	[AT_TAG_SEND] = { "ucp_tag_send_nbx", "tag_send", UB_OP, 0, 0 },
	[AT_TAG_RECV] = { "ucp_tag_recv_nbx", "tag_recv", UB_OP, 0, 0 },
	[AT_TAG_MSG_RECV] = { "ucp_tag_msg_recv_nbx", "tag_msg_recv", UB_OP, 0, 0 },
	[AT_TAG_PROBE] = { "ucp_tag_probe_nb", "tag_probe", UB_OP, UB_OP_PROBE, 0 },
	[AT_GET] = { "ucp_get_nbx", "get", UB_OP, 0, 0 },
	[AT_AM_SEND] = { "ucp_am_send_nbx", "am_send", UB_OP, 0, 0 },
	[AT_AM_SHORT] = { "uct_mm_ep_am_short", "am_short", UB_XFER, 0, 0 },
	[AT_AM_BCOPY] = { "uct_mm_ep_am_bcopy", "am_bcopy", UB_XFER, 0, 0 },
	[AT_GET_ZCOPY] = { "uct_scopy_ep_get_zcopy", "get_zcopy", UB_XFER, 0, 0 },
	[AT_PUT_ZCOPY] = { "uct_scopy_ep_put_zcopy", "put_zcopy", UB_XFER, 0, 0 },
	[AT_GET_SHORT] = { "uct_cuda_copy_ep_get_short", "get_short", UB_XFER, 0, 0 },
	[AT_PUT_SHORT] = { "uct_cuda_copy_ep_put_short", "put_short", UB_XFER, 0, 0 },
	[AT_RX_EAGER] = { "ucp_eager_only_handler", "eager_only", UB_RX, 0, 2 },
	[AT_RX_FIRST] = { "ucp_eager_first_handler", "eager_first", UB_RX, 0, 3 },
	[AT_RX_RTS] = { "ucp_rndv_rts_handler", "rndv_rts", UB_RX, 0, 9 },
	[AT_RX_GET_REQ] = { "ucp_get_req_handler", "get_req", UB_RX, 0, 18 },
	[AT_RX_ATS] = { "ucp_rndv_ats_handler", "rndv_ats", UB_RX, 0, 10 },
	[AT_RX_RTR] = { "ucp_rndv_rtr_handler", "rndv_rtr", UB_RX, 0, 11 },
	[AT_RX_ATP] = { "ucp_rndv_atp_handler", "rndv_atp", UB_RX, 0, 16 },
	[AT_RX_AM] = { "ucp_am_handler", "am_single", UB_RX, 0, 23 },
	[AT_SEND_CB] = { "send_cb", "send_callback", UB_COMP, UB_COMP_SEND_CB, 0 },
	[AT_RECV_CB] = { "recv_cb", "recv_callback", UB_COMP, UB_COMP_RECV_CB, 0 },
	[AT_UCT_COMP] = { "uct_comp", "uct_completion", UB_COMP, UB_COMP_UCT, 0 },
	[AT_REQ_FREE] = { "ucp_request_free", "request_free", UB_COMP, UB_COMP_REQ_FREE, 0 },
	[AT_MATCHED] = { "ucp_tag_rndv_matched", "rndv_matched", UB_MATCH, 0, 0 },
	[AT_WORKER] = { "ucp_worker_create", "worker_create", UB_OBJ, UB_OBJ_WORKER_CREATE, 0 },
	[AT_EP] = { "ucp_ep_create", "ep_create", UB_OBJ, UB_OBJ_UCP_EP_CREATE, 0 },
	[AT_IFACE] = { "uct_iface_open", "iface_open", UB_OBJ, UB_OBJ_IFACE_OPEN, 0 },
	[AT_MEM_ALLOC] = { "cuMemAlloc_v2", "cuMemAlloc", UB_MEM, UB_MEM_ALLOC, 0 },
	[AT_MEM_HOST] = { "cuMemHostAlloc", "cuMemHostAlloc", UB_MEM, UB_MEM_ALLOC_HOST, 0 },
	[AT_MEM_FREE] = { "cuMemFree_v2", "cuMemFree", UB_MEM, UB_MEM_FREE, 0 },
	[AT_MEM_EXPORT] = { "cuIpcGetMemHandle", "cuIpcGetMemHandle", UB_MEM, UB_MEM_EXPORT, 0 },
	[AT_MEM_IMPORT] = { "cuIpcOpenMemHandle_v2", "cuIpcOpenMemHandle", UB_MEM, UB_MEM_IMPORT,
			    0 },
	[AT_RUNTIME] = { "cudaMalloc", "cudaMalloc", UB_MEM, UB_MEM_RUNTIME, 0 },
	[AT_CTX_RETAIN] = { "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRetain", UB_MEM,
			    UB_MEM_CTX_RETAIN, 0 },
	[AT_CTX_SET] = { "cuCtxSetCurrent", "cuCtxSetCurrent", UB_MEM, UB_MEM_CTX_SET, 0 },
	[AT_LOSS] = { "loss", "loss", UB_LOSS, 0, 0 },
	[AT_TASK] = { "task", "task", UB_TASK, 0, 0 },
};

#endif
