// SPDX-License-Identifier: BSD-3-Clause
/*
 * UCT: life of interfaces and endpoints, and every endpoint operation that stock transports export
 * (names: sources of UCX 1.13.1, 1.16.0, 1.18.1 and 1.20). Operations that no library exports are
 * found through the ops tables and get the row of their slot. UCP's wire-up and proxy endpoints are
 * stubs in front of these and are never probed.
 *
 * First the operations: the meaning of their arguments (uct_ep_*_func_t, uct/api/tl.h, the same
 * since UCX 1.11) and their slots in uct_iface_ops_t. Every operation needs its return: a status
 * of no resource means that nothing was sent and the same call will come again, and *_bcopy returns
 * its length.
 */
#include "observe/probe/sites_tables.h"

#define UCT_OP(symbol, name, slot, ...)                                                            \
	SITE_ROW(symbol, name, LEVEL_UCT, slot, false, .kind = UB_XFER, .needs_return = 1,         \
		 .arg_obj = 1, __VA_ARGS__)

/* (ep, buffer, length, remote_addr, rkey) */
#define UCT_SHORT .length_rule = UB_LEN_ARG32, .arg_buffer = 2, .arg_count = 3, .arg_tag = 4
/* (ep, iov, iovcnt, remote_addr, rkey, comp) */
#define UCT_ZCOPY                                                                                  \
	.length_rule = UB_LEN_IOV, .arg_iov = 2, .arg_iovcnt = 3, .arg_tag = 4, .arg_comp = 6
/* (ep, opcode, value, remote_addr, rkey) */
#define UCT_POST(bytes) .length_rule = UB_LEN_FIXED##bytes, .arg_tag = 4
/* (ep, opcode, value, result, remote_addr, rkey, comp) */
#define UCT_FETCH(bytes)                                                                           \
	.length_rule = UB_LEN_FIXED##bytes, .arg_buffer = 4, .arg_tag = 5, .arg_comp = 7
/* (ep, compare, swap, remote_addr, rkey, result, comp) */
#define UCT_CSWAP(bytes)                                                                           \
	.length_rule = UB_LEN_FIXED##bytes, .arg_tag = 4, .arg_buffer = 6, .arg_comp = 7

#define UCT_PUT_SHORT(s) UCT_OP(s, "put_short", 0, UCT_SHORT)
/* (ep, pack_cb, arg, remote_addr, rkey) */
#define UCT_PUT_BCOPY(s)                                                                           \
	UCT_OP(s, "put_bcopy", 1, .length_rule = UB_LEN_RETURN, .arg_pack = 3, .arg_tag = 4)
#define UCT_PUT_ZCOPY(s) UCT_OP(s, "put_zcopy", 2, UCT_ZCOPY)
#define UCT_GET_SHORT(s) UCT_OP(s, "get_short", 3, UCT_SHORT)
/* (ep, unpack_cb, arg, length, remote_addr, rkey, comp): arg is the destination in all of UCP */
#define UCT_GET_BCOPY(s)                                                                           \
	UCT_OP(s, "get_bcopy", 4, .length_rule = UB_LEN_ARG64, .arg_buffer = 3, .arg_count = 4,    \
	       .arg_tag = 5, .arg_comp = 7)
#define UCT_GET_ZCOPY(s) UCT_OP(s, "get_zcopy", 5, UCT_ZCOPY)
/* (ep, id, header, payload, length): nothing traced runs inside, but for loopback */
#define UCT_AM_SHORT_LOOP(s)                                                                       \
	UCT_OP(s, "am_short", 6, .length_rule = UB_LEN_SHORT_AM, .arg_am_id = 2, .arg_aux = 3,     \
	       .arg_buffer = 4, .arg_count = 5)
#define UCT_AM_SHORT(s, ...)                                                                       \
	UCT_OP(s, "am_short", 6, .length_rule = UB_LEN_SHORT_AM, .arg_am_id = 2, .arg_aux = 3,     \
	       .arg_buffer = 4, .arg_count = 5, .ends_with_op = 1, .derivable = UB_SHORT_SENDS,    \
	       __VA_ARGS__)
/* (ep, id, iov, iovcnt) */
#define UCT_AM_SHORT_IOV(s, ...)                                                                   \
	UCT_OP(s, "am_short_iov", 7, .length_rule = UB_LEN_IOV, .arg_am_id = 2, .arg_iov = 3,      \
	       .arg_iovcnt = 4, __VA_ARGS__)
/* (ep, id, pack_cb, arg, flags) */
#define UCT_AM_BCOPY_LOOP(s, ...)                                                                  \
	UCT_OP(s, "am_bcopy", 8, .length_rule = UB_LEN_RETURN, .arg_am_id = 2, .arg_pack = 4,      \
	       __VA_ARGS__)
#define UCT_AM_BCOPY(s, ...) UCT_AM_BCOPY_LOOP(s, .ends_with_op = 1, __VA_ARGS__)
/* (ep, id, header, header_length, iov, iovcnt, flags, comp) */
#define UCT_AM_ZCOPY(s, ...)                                                                       \
	UCT_OP(s, "am_zcopy", 9, .length_rule = UB_LEN_ZCOPY_AM, .arg_am_id = 2, .arg_aux = 3,     \
	       .arg_header_len = 4, .arg_iov = 5, .arg_iovcnt = 6, .arg_comp = 8, __VA_ARGS__)
#define UCT_CSWAP64(s) UCT_OP(s, "atomic_cswap64", 10, UCT_CSWAP(8))
#define UCT_CSWAP32(s) UCT_OP(s, "atomic_cswap32", 11, UCT_CSWAP(4))
#define UCT_POST32(s) UCT_OP(s, "atomic32_post", 12, UCT_POST(4))
#define UCT_POST64(s) UCT_OP(s, "atomic64_post", 13, UCT_POST(8))
#define UCT_FETCH32(s) UCT_OP(s, "atomic32_fetch", 14, UCT_FETCH(4))
#define UCT_FETCH64(s) UCT_OP(s, "atomic64_fetch", 15, UCT_FETCH(8))
/* (ep, tag, data, length): hardware tag matching; the tag stands for the AM header */
#define UCT_TAG_SHORT(s)                                                                           \
	UCT_OP(s, "tag_eager_short", 16, .length_rule = UB_LEN_ARG64, .arg_aux = 2,                \
	       .arg_buffer = 3, .arg_count = 4)
/* (ep, tag, imm, pack_cb, arg, flags) */
#define UCT_TAG_BCOPY(s)                                                                           \
	UCT_OP(s, "tag_eager_bcopy", 17, .length_rule = UB_LEN_RETURN, .arg_aux = 2, .arg_pack = 5)
/* (ep, tag, imm, iov, iovcnt, flags, comp) */
#define UCT_TAG_ZCOPY(s)                                                                           \
	UCT_OP(s, "tag_eager_zcopy", 18, .length_rule = UB_LEN_IOV, .arg_aux = 2, .arg_iov = 4,    \
	       .arg_iovcnt = 5, .arg_comp = 7)
/* (ep, tag, header, header_length, iov, iovcnt, flags, comp): returns an operation handle or error
 */
#define UCT_TAG_RNDV(s)                                                                            \
	UCT_OP(s, "tag_rndv_zcopy", 19, .length_rule = UB_LEN_IOV, .arg_aux = 2, .arg_iov = 5,     \
	       .arg_iovcnt = 6, .arg_comp = 8)

/* All of a transport's operations of one sort; p: "uct_tcp_ep_" */
#define UCT_AM_EAGER(p)                                                                            \
	UCT_AM_SHORT(p "am_short"), UCT_AM_SHORT_IOV(p "am_short_iov"), UCT_AM_BCOPY(p "am_bcopy")
#define UCT_AM_ALL(p) UCT_AM_EAGER(p), UCT_AM_ZCOPY(p "am_zcopy")
#define UCT_RMA_SHORT(p) UCT_PUT_SHORT(p "put_short"), UCT_GET_SHORT(p "get_short")
#define UCT_RMA_ZCOPY(p) UCT_PUT_ZCOPY(p "put_zcopy"), UCT_GET_ZCOPY(p "get_zcopy")
#define UCT_RMA_NIC(p)                                                                             \
	UCT_PUT_SHORT(p "put_short"), UCT_PUT_BCOPY(p "put_bcopy"), UCT_GET_BCOPY(p "get_bcopy"),  \
		UCT_RMA_ZCOPY(p)
#define UCT_ATOMIC64(p)                                                                            \
	UCT_CSWAP64(p "atomic_cswap64"), UCT_POST64(p "atomic64_post"),                            \
		UCT_FETCH64(p "atomic64_fetch")
#define UCT_ATOMIC_ALL(p)                                                                          \
	UCT_ATOMIC64(p), UCT_CSWAP32(p "atomic_cswap32"), UCT_POST32(p "atomic32_post"),           \
		UCT_FETCH32(p "atomic32_fetch")
#define UCT_TAG_ALL(p)                                                                             \
	UCT_TAG_SHORT(p "tag_eager_short"), UCT_TAG_BCOPY(p "tag_eager_bcopy"),                    \
		UCT_TAG_ZCOPY(p "tag_eager_zcopy"), UCT_TAG_RNDV(p "tag_rndv_zcopy")

#define OBJ(symbol, name, obj_what, ...)                                                           \
	SITE(symbol, name, LEVEL_UCT, .kind = UB_OBJ, .what = (obj_what), __VA_ARGS__)

/* Columns as of the objects in sites_ucp.c */
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
	/* (fd, data, length *): reads arrivals over tcp. Hit once per read. */
	SITE("ucs_socket_recv_nb", "socket_recv", LEVEL_UCT, .kind = UB_RX, .what = UB_RX_SOCKET,
	     .arg_obj = 1, .arg_buffer = 2),
};

static const struct site slot_rows[] = {
	UCT_RMA_NIC("uct_*_ep_"),
	UCT_GET_SHORT("uct_*_ep_get_short"),
	UCT_AM_SHORT_LOOP("uct_*_ep_am_short"),
	UCT_AM_SHORT_IOV("uct_*_ep_am_short_iov"),
	UCT_AM_BCOPY_LOOP("uct_*_ep_am_bcopy"),
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
	UCT_AM_BCOPY_LOOP("uct_self_ep_am_bcopy", .what = UB_XFER_SELF),
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

const struct site_table sites_uct_base = { base_rows, ARRAY_SIZE(base_rows), LIB_UCT, NULL };
const struct site_table sites_uct_socket = { socket_rows, ARRAY_SIZE(socket_rows), LIB_UCS, NULL };
const struct site_table sites_uct_slots = { slot_rows, ARRAY_SIZE(slot_rows), 0, NULL };
const struct site_table sites_uct_ops = { op_rows, ARRAY_SIZE(op_rows), 0, NULL };
