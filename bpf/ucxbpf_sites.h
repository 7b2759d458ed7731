/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* A part of ucxbpf.h: the tables that user space fills, of sites and of UCX's layouts. */
#ifndef UCXBPF_SITES_H
#define UCXBPF_SITES_H

/*
 * Site table row as the BPF side needs it. Arguments are numbered from 1 in the order of the C
 * prototype, 0 = the function has no such argument.
 */
enum ub_length_rule {
	UB_LEN_NONE = 0,
	UB_LEN_ARG32 = 1, /* 32-bit argument */
	UB_LEN_ARG64 = 2,
	UB_LEN_RETURN = 3, /* *_bcopy: return value */
	UB_LEN_IOV = 4, /* sum over uct_iov_t[] */
	UB_LEN_SHORT_AM = 5, /* 8-byte header + 32-bit argument */
	UB_LEN_ZCOPY_AM = 6, /* 32-bit header length + sum over uct_iov_t[] */
	UB_LEN_FIXED4 = 7,
	UB_LEN_FIXED8 = 8,
};

enum ub_obj_what {
	UB_OBJ_NONE = 0,
	UB_OBJ_IFACE_OPEN = 1,
	UB_OBJ_IFACE_CLOSE = 2,
	UB_OBJ_UCT_EP_CREATE = 3,
	UB_OBJ_UCT_EP_DESTROY = 4,
	UB_OBJ_UCP_EP_CREATE = 5,
	UB_OBJ_UCP_EP_DESTROY = 6,
	UB_OBJ_WORKER_CREATE = 7,
	UB_OBJ_WORKER_ADDRESS = 8,
	UB_OBJ_WORKER_DESTROY = 9,
	UB_OBJ_UCP_EP_PEER = 10, /* ucp_ep_match_insert(worker, ep, uuid): both sides */
	UB_OBJ_MEM_MAP = 11, /* parent, uuid: start and end of memory that it allocated, else 0 */
	UB_OBJ_MEM_UNMAP = 12,
};

enum ub_comp_what {
	UB_COMP_NONE = 0,
	UB_COMP_UCT = 1, /* uct_completion_callback_t: (comp) */
	UB_COMP_SEND_CB = 2, /* ucp_send_nbx_callback_t: (request, status, user_data) */
	UB_COMP_RECV_CB = 3, /* ucp_tag_recv_nbx_callback_t: (request, status, info, user_data) */
	UB_COMP_SCOPY = 4, /* retired, in old captures only: uct_scopy_ep_progress_tx */
	UB_COMP_REQ_FREE = 5, /* ucp_request_free/release: (request) */
	/* errors, with --count only: no awaited return shows them */
	UB_COMP_EP_FAILED = 6, /* an endpoint; arg_aux: status; may be called again for it */
	UB_COMP_TRUNCATED = 7, /* a receive; called once */
	UB_COMP_CANCELLED = 8, /* a receive, if the function returns non-zero */
	UB_COMP_GIVEN_UP = 9, /* a request; arg_aux: status; may call another such one for it */
};

enum ub_call_what {
	UB_CALL_PLAIN = 0,
	UB_CALL_NO_END = 1, /* does not return: never with a return probe */
	UB_CALL_POLL = 2, /* looks at operations and goes on: its records are folded */
};

enum ub_op_what {
	UB_OP_PLAIN = 0,
	UB_OP_PROBE = 1, /* returns a message or NULL; a NULL makes no record */
	UB_OP_SIZE_OUT = 2, /* stream receives: arg_info is a size_t * */
	UB_OP_DATA_OUT = 3, /* stream_recv_data: the same, and a NULL return makes no record */
	UB_OP_TAG_RECV = 4, /* its request holds the sender's tag and the length once complete */
	UB_OP_CANCEL = 5, /* returns nothing; aux is the user's handle of the request it is about */
	UB_OP_TAG_SEND = 6, /* its transfer can be derived from its result */
	UB_OP_CLOSE = 7, /* closes an endpoint: a failure from now on is no error */
};

enum ub_xfer_what {
	UB_XFER_PLAIN = 0,
	UB_XFER_MM = 1, /* active message over shared memory: has a FIFO position */
	UB_XFER_SELF = 2, /* the receiver's handler runs inside, and may change the request */
	UB_XFER_TCP = 3, /* active message over TCP: has a position in the connection */
};

enum ub_rx_what {
	UB_RX_PLAIN = 0,
	UB_RX_SOCKET = 1, /* (fd, data): no arrival, but a read from a socket; makes no record */
};

struct ub_site {
	__u8 kind; /* enum ub_kind the site emits */
	__u8 what; /* enum ub_call_what, ub_obj_what, ub_comp_what, ub_op_what, ub_xfer_what,
		      ub_rx_what or ub_mem_what, by kind */
	__u8 needs_return;
	__u8 length_rule; /* enum ub_length_rule */
	__u8 arg_obj;
	__u8 arg_buffer; /* op: buffer; xfer: local buffer or u64 payload pointer */
	__u8 arg_count; /* op: count; xfer: length */
	__u8 arg_tag; /* op: tag, AM id, remote address; xfer: remote address */
	__u8 arg_aux; /* op: tag mask, header length, rkey, message; xfer: 64-bit AM header (short)
			 or header pointer (zcopy) */
	__u8 arg_param; /* op: ucp_request_param_t * */
	__u8 arg_am_id;
	__u8 arg_iov;
	__u8 arg_iovcnt;
	__u8 arg_header_len;
	__u8 arg_pack; /* xfer: the pack callback's argument of *_bcopy */
	__u8 arg_comp; /* xfer: uct_completion_t * */
	__u8 arg_comm; /* call: communicator */
	__u8 arg_info; /* op: ucp_tag_recv_info_t * out (probe); with what = UB_OP_SIZE_OUT: size_t
			* out; mem: where the pitch is stored */
	__u8 arg_device; /* mem: the library's number of a device */
	__u8 am_id; /* rx: UCP_AM_ID_* of the handler */
	__u8 last_arg; /* the highest of the above */
	__u8 ends_with_op; /* xfer: see bpf/with_op.bpf.h */
	__u8 derivable; /* what can be derived while its probe is away, by number from 1. call:
			   makes one operation, or none; xfer: UB_SHORT_SENDS; 0: cannot */
	__u8 may_short; /* op: it may send by such a transfer */
};

_Static_assert(sizeof(struct ub_site) == 24, "site row size");

static inline bool ub_is_error(const struct ub_site *site)
{
	return site->kind == UB_COMP && site->what >= UB_COMP_EP_FAILED;
}

/*
 * Attach cookie: which site, with which layout, how far %rsp moved between the function's entry and
 * the probe, how many bytes lie between them, and which of the wrappers are the site's.
 */
#define UB_COOKIE(site, layout, sp_words, delta, wrappers)                                         \
	((__u64)(site) | (__u64)(layout) << 16 | (__u64)(sp_words) << 24 | (__u64)(delta) << 32 |  \
	 (__u64)(wrappers) << 52)
#define UB_COOKIE_SITE(c) ((__u16)(c))
#define UB_COOKIE_LAYOUT(c) ((__u8)((c) >> 16))
#define UB_COOKIE_SP_WORDS(c) ((__u8)((c) >> 24))
#define UB_COOKIE_DELTA(c) ((__u32)((c) >> 32) & UB_MAX_DELTA)
#define UB_COOKIE_WRAPPERS(c) ((__u16)((c) >> 52))
#define UB_MAX_DELTA 0xfffff

/*
 * Functions of UCX that make their operation by calling the site's: from and to, before which a
 * return address into one lies, counted from the site's function, and how many bytes above the word
 * that holds it the function's own return address is. Those that call others come behind them.
 */
#define UB_MAX_WRAPPERS 4096 /* by number, 0: none */
#define UB_WRAPPER_ROWS 16
struct ub_wrapper {
	__s32 from, to;
	__u32 up;
};

struct ub_wrappers {
	__s32 from, to; /* around all rows: most callers are elsewhere */
	struct ub_wrapper row[UB_WRAPPER_ROWS];
};

/* Offsets into UCX's private structs; one slot per UCX build in use. 0xffff = not known: not read.
 */
#define UB_OFF_UNKNOWN 0xffff
struct ub_layout {
	__u16 req_size; /* sizeof(ucp_request_t): user handle - req_size = request */
	__u16 req_flags;
	__u16 req_id;
	__u16 req_super;
	__u16 req_ep;
	__u16 req_length; /* send.length, filled by protocol v1 */
	__u16 req_proto_config;
	__u16 req_dt_length; /* send.state.dt_iter.length, protocol v2 */
	__u16 req_uct_comp;
	__u16 req_msg_id;
	__u16 req_msg_tag;
	__u16 req_recv_length;
	__u16 req_recv_info;
	__u16 proto_config_proto;
	__u16 proto_name;
	__u16 ep_worker;
	__u16 iface_worker; /* uct_base_iface_t.err_handler_arg */
	__u16 worker_uuid;
	__u16 req_mem; /* send.mem_type, protocol v1; 0 = not known */
	__u16 recv_mem; /* recv.mem_type, or where recv.dt_iter is, its mem_info; 0 = not known */
	__u16 mm_elems; /* uct_mm_iface_t.recv_fifo_elems; 0: positions of arrivals are not read */
	__u16 worker_ifaces, worker_num_ifaces;
	__u16 ep_config, ep_config_bytes; /* ucp_ep_t.cfg_index; 0 bytes: not known */
	__u16 ep_lanes, ep_lane_count; /* ucp_ep_t.uct_eps */
	__u16 pad;
};

_Static_assert(sizeof(struct ub_layout) == 56, "layout row size");

#define UB_MAX_SITES 2048
#define UB_MAX_LAYOUTS 32

#endif
