// SPDX-License-Identifier: BSD-3-Clause
/*
 * UCT: life of interfaces and endpoints, and every endpoint operation that stock transports export
 * (names: sources of UCX 1.13.1, 1.16.0, 1.18.1 and 1.20). What no library exports is found through
 * the ops tables and gets the row of its slot. UCP's wire-up and proxy endpoints are stubs in front
 * of these and are never probed.
 */
#include "observe/probe/sites_uct_ops.h"

#define OBJ(symbol, name, obj_what, ...)                                                           \
	SITE(symbol, name, LAYER_UCT, .kind = UB_OBJ, .what = (obj_what), __VA_ARGS__)

/* Columns as in sites_ucp_rest.c */
static const struct site base_rows[] = {
	/* (md, uct_worker, params, config, iface *) */
	OBJ("uct_iface_open", "iface_open", UB_OBJ_IFACE_OPEN, .needs_return = 1, .arg_param = 3,
	    .arg_obj = 5),
	OBJ("uct_iface_close", "iface_close", UB_OBJ_IFACE_CLOSE, .arg_obj = 1),
	/* (params, ep *) */
	OBJ("uct_ep_create", "uct_ep_create", UB_OBJ_UCT_EP_CREATE, .needs_return = 1,
	    .arg_param = 1, .arg_obj = 2),
	OBJ("uct_ep_destroy", "uct_ep_destroy", UB_OBJ_UCT_EP_DESTROY, .arg_obj = 1),
};

static const struct site socket_rows[] = {
	/* (fd, data, length *): arrivals over tcp lie in what it reads. Hit once per read. */
	SITE("ucs_socket_recv_nb", "socket_recv", LAYER_UCT, .kind = UB_RX, .what = UB_RX_SOCKET,
	     .arg_obj = 1, .arg_buffer = 2),
};

static const struct site slot_rows[] = {
	UCT_RMA_NIC("uct_*_ep_"),
	UCT_GET_SHORT("uct_*_ep_get_short"),
	UCT_AM_SHORT_LOOP("uct_*_ep_am_short"),
	UCT_AM_SHORT_IOV("uct_*_ep_am_short_iov"),
	UCT_AM_BCOPY("uct_*_ep_am_bcopy"),
	UCT_AM_ZCOPY("uct_*_ep_am_zcopy"),
	UCT_ATOMIC_ALL("uct_*_ep_"),
	UCT_TAG_ALL("uct_*_ep_"),
};

static const struct site op_rows[] = {
	/* posix, sysv, xpmem; the second line serves self, too */
	UCT_AM_SHORT("uct_mm_ep_am_short", .what = UB_XFER_MM),
	UCT_AM_SHORT_IOV("uct_mm_ep_am_short_iov", .what = UB_XFER_MM),
	UCT_AM_BCOPY("uct_mm_ep_am_bcopy", .what = UB_XFER_MM),
	UCT_PUT_SHORT("uct_sm_ep_put_short"),
	UCT_PUT_BCOPY("uct_sm_ep_put_bcopy"),
	UCT_GET_BCOPY("uct_sm_ep_get_bcopy"),
	UCT_ATOMIC_ALL("uct_sm_ep_"),
	UCT_AM_SHORT_LOOP("uct_self_ep_am_short"),
	UCT_AM_SHORT_IOV("uct_self_ep_am_short_iov"),
	UCT_AM_BCOPY("uct_self_ep_am_bcopy", .what = UB_XFER_SELF),
	UCT_AM_SHORT("uct_tcp_ep_am_short", .what = UB_XFER_TCP),
	UCT_AM_SHORT_IOV("uct_tcp_ep_am_short_iov", .what = UB_XFER_TCP),
	UCT_AM_BCOPY("uct_tcp_ep_am_bcopy", .what = UB_XFER_TCP),
	UCT_AM_ZCOPY("uct_tcp_ep_am_zcopy", .what = UB_XFER_TCP),
	UCT_PUT_ZCOPY("uct_tcp_ep_put_zcopy"),
	/* cma, knem */
	UCT_RMA_ZCOPY("uct_scopy_ep_"),

	UCT_AM_ALL("uct_rc_verbs_ep_"),
	UCT_RMA_NIC("uct_rc_verbs_ep_"),
	UCT_ATOMIC64("uct_rc_verbs_ep_"),
	/* up to 1.16, and from 1.17; the tag operations kept their name */
	UCT_AM_ALL("uct_rc_mlx5_ep_"),
	UCT_RMA_NIC("uct_rc_mlx5_ep_"),
	UCT_ATOMIC_ALL("uct_rc_mlx5_ep_"),
	UCT_TAG_ALL("uct_rc_mlx5_ep_"),
	UCT_AM_ALL("uct_rc_mlx5_base_ep_"),
	UCT_RMA_NIC("uct_rc_mlx5_base_ep_"),
	UCT_ATOMIC_ALL("uct_rc_mlx5_base_ep_"),
	UCT_AM_ALL("uct_dc_mlx5_ep_"),
	UCT_RMA_NIC("uct_dc_mlx5_ep_"),
	UCT_ATOMIC_ALL("uct_dc_mlx5_ep_"),
	UCT_TAG_ALL("uct_dc_mlx5_ep_"),
	/* static in all releases: found by name only where .symtab was kept */
	UCT_AM_ALL("uct_ud_verbs_ep_"),
	UCT_PUT_SHORT("uct_ud_verbs_ep_put_short"),
	UCT_AM_ALL("uct_ud_mlx5_ep_"),
	UCT_PUT_SHORT("uct_ud_mlx5_ep_put_short"),
	UCT_RMA_ZCOPY("uct_gga_mlx5_ep_"),
	UCT_AM_ALL("uct_srd_ep_"),
	UCT_RMA_NIC("uct_srd_ep_"),

	UCT_RMA_SHORT("uct_cuda_copy_ep_"),
	UCT_RMA_ZCOPY("uct_cuda_copy_ep_"),
	UCT_RMA_ZCOPY("uct_cuda_ipc_ep_"),
	UCT_RMA_SHORT("uct_gdr_copy_ep_"),
	UCT_RMA_SHORT("uct_rocm_copy_ep_"),
	UCT_RMA_ZCOPY("uct_rocm_copy_ep_"),
	UCT_RMA_ZCOPY("uct_rocm_ipc_ep_"),
	UCT_RMA_SHORT("uct_rocm_gdr_ep_"),
	UCT_RMA_SHORT("uct_ze_copy_ep_"),
	UCT_RMA_ZCOPY("uct_ze_copy_ep_"),

	/* ugni's shared am_short_iov is left out: it calls the transport's am_short */
	UCT_AM_SHORT("uct_ugni_smsg_ep_am_short"),
	UCT_AM_BCOPY("uct_ugni_smsg_ep_am_bcopy"),
	UCT_AM_SHORT("uct_ugni_udt_ep_am_short"),
	UCT_AM_BCOPY("uct_ugni_udt_ep_am_bcopy"),
	UCT_RMA_NIC("uct_ugni_ep_"),
	UCT_ATOMIC_ALL("uct_ugni_ep_"),
};

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

const struct site_table sites_uct_base = { base_rows, COUNT(base_rows), LIB_UCT, NULL };
const struct site_table sites_uct_socket = { socket_rows, COUNT(socket_rows), LIB_UCS, NULL };
const struct site_table sites_uct_slots = { slot_rows, COUNT(slot_rows), 0, NULL };
const struct site_table sites_uct_ops = { op_rows, COUNT(op_rows), 0, NULL };
