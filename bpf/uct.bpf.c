/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* UCT endpoint operations, and the lives of ifaces, endpoints and workers. */
#include "span.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define MAX_IOV 8
#define UCS_INPROGRESS 1

/* uct_iov_t and uct_completion_t, public ABI (uct.h) */
struct uct_iov {
	__u64 buffer;
	__u64 length;
	__u64 memh;
	__u64 stride;
	__u32 count;
	__u32 pad;
};

struct uct_completion {
	__u64 func;
	__s32 count;
	__u8 status;
	__u8 pad[3];
};

static __always_inline __u64 iov_length(const struct hit *hit, struct ub_xfer *xfer)
{
	__u64 base = arg(hit, hit->site->arg_iov);
	__u64 n = arg(hit, hit->site->arg_iovcnt);
	__u64 total = 0;

	for (__u32 i = 0; i < MAX_IOV; i++) {
		struct uct_iov iov;

		if (i >= n)
			break;
		if (bpf_probe_read_user(&iov, sizeof(iov), (void *)(base + i * sizeof(iov)))) {
			xfer->h.flags |= UB_F_READ_FAULT;
			break;
		}
		if (i == 0)
			xfer->laddr = iov.buffer;
		total += iov.length * iov.count;
	}
	if (n > MAX_IOV)
		xfer->h.flags |= UB_F_READ_FAULT;
	return total;
}

static __always_inline __s64 xfer_length(const struct hit *hit, struct ub_xfer *xfer)
{
	const struct ub_site *site = hit->site;

	switch (site->length_rule) {
	case UB_LEN_ARG32:
		return (__u32)arg(hit, site->arg_count);
	case UB_LEN_ARG64:
		return arg(hit, site->arg_count);
	case UB_LEN_IOV:
		return iov_length(hit, xfer);
	case UB_LEN_SHORT_AM:
		return 8 + (__u32)arg(hit, site->arg_count);
	case UB_LEN_ZCOPY_AM:
		return (__u32)arg(hit, site->arg_header_len) + iov_length(hit, xfer);
	case UB_LEN_FIXED4:
		return 4;
	case UB_LEN_FIXED8:
		return 8;
	}
	return 0;
}

/* Up to three words, each size a constant for the verifier. */
static __always_inline long read_words(__u64 *to, __u32 words, __u64 at)
{
	switch (words) {
	case 1:
		return bpf_probe_read_user(to, 8, (void *)at);
	case 2:
		return bpf_probe_read_user(to, 16, (void *)at);
	case 3:
		return bpf_probe_read_user(to, 24, (void *)at);
	}
	return -1;
}

/* The first words of the outgoing UCP header, where they lie in registers or in a buffer. */
static __always_inline void xfer_wire_header(const struct hit *hit, struct ub_xfer *xfer)
{
	const struct ub_site *site = hit->site;
	__u32 words = am_header_words(xfer->am_id);
	__u64 address = 0;

	if (words > 3)
		words = 3;
	if (site->length_rule == UB_LEN_SHORT_AM) {
		xfer->w[0] = arg(hit, site->arg_aux);
		xfer->h.flags |= UB_F_WIRE;
		if (words > 1 && (__u32)arg(hit, site->arg_count) >= (words - 1) * 8)
			read_words(&xfer->w[1], words == 3 ? 2 : 1, arg(hit, site->arg_buffer));
		return;
	}
	if (site->length_rule == UB_LEN_ZCOPY_AM &&
	    (__u32)arg(hit, site->arg_header_len) >= words * 8)
		address = arg(hit, site->arg_aux);
	else if (site->length_rule == UB_LEN_IOV)
		address = xfer->laddr;
	if (address && !read_words(xfer->w, words, address))
		xfer->h.flags |= UB_F_WIRE;
}

/* Which request does this operation belong to: by its completion, else by the packing argument. */
static __always_inline void xfer_find_request(const struct hit *hit, struct ub_xfer *xfer,
					      __u64 worker)
{
	const struct ub_layout *layout = hit->layout;
	__u64 comp = arg(hit, hit->site->arg_comp), pack = arg(hit, hit->site->arg_pack), first;

	if (comp) {
		struct uct_completion c = {};

		bpf_probe_read_user(&c, sizeof(c), (void *)comp);
		xfer->comp_func = c.func;
		xfer->comp_count = c.count;
		if (request_valid(hit->task, layout, comp - layout->req_uct_comp, worker)) {
			xfer->req = comp - layout->req_uct_comp;
			xfer->h.flags |= UB_F_REQ_BY_COMP;
		}
		return;
	}
	if (!pack || !request_load(hit->task, pack))
		return;
	/*
	 * The argument is the request, or a packing context on the stack that starts with a pointer
	 * to it. Such a context may hold an endpoint where a request would, so the pointer is tried
	 * first; a request starts with its status, in progress or done.
	 */
	first = request_u64(hit->task, 0);
	if ((__u32)first > UCS_INPROGRESS && request_valid(hit->task, layout, first, worker))
		pack = first;
	else if (!request_valid(hit->task, layout, pack, worker))
		return;
	xfer->req = pack;
	xfer->h.flags |= UB_F_REQ_BY_ARG;
}

static __always_inline void xfer_request(const struct hit *hit, struct ub_xfer *xfer)
{
	const struct ub_layout *layout = hit->layout;
	struct task_state *task = hit->task;
	__u64 config;

	xfer->ucp_ep = request_u64(task, layout->req_ep);
	xfer->super_req = request_u64(task, layout->req_super);
	xfer->req_flags = request_u32(task, layout->req_flags);
	xfer->req_len = request_length(task, layout);
	if (xfer->req_flags & UCP_REQUEST_FLAG_PROTO_SEND) {
		xfer->h.flags |= UB_F_PROTO_V2;
		config = request_u64(task, layout->req_proto_config);
		if (config && layout->proto_config_proto != UB_OFF_UNKNOWN)
			xfer->proto = read_u64(config + layout->proto_config_proto);
	}
	if (xfer->am_id && !(xfer->h.flags & UB_F_WIRE)) {
		xfer->w[0] = request_u64(task, layout->req_msg_tag);
		xfer->w[1] = xfer->req_len;
		xfer->w[2] = request_u64(task, layout->req_msg_id);
		xfer->h.flags |= UB_F_REQ;
	}
}

/*
 * Where in the receiver's FIFO a message will go: an identity on the wire that eager messages have
 * nowhere else. Wanted once in a while only, to tell which send met which arrival after a late
 * attach. uct_mm_ep_t.fifo_ctl and uct_mm_fifo_ctl_t.head: same places in UCX 1.13 to 1.21
 * (src/uct/sm/mm/base/mm_ep.h, mm_iface.h); the top bit of head is a flag.
 */
#define MM_EP_FIFO_CTL 8
#define MM_FIFO_HEAD 0
#define MM_FIFO_HEAD_ARMED (1ull << 63)
#define FIFO_ALWAYS 64 /* of a task's first frames, */
#define FIFO_EVERY 16 /* then one in so many; a power of two */

static __always_inline __u64 fifo_head(__u64 uct_ep)
{
	return read_u64(read_u64(uct_ep + MM_EP_FIFO_CTL) + MM_FIFO_HEAD) & ~MM_FIFO_HEAD_ARMED;
}

static __always_inline bool fifo_wanted(__u32 seq)
{
	return seq < FIFO_ALWAYS || (seq & (FIFO_EVERY - 1)) == 0;
}

/* With another sender in between, the position is not known. */
static __always_inline void fifo_position(struct ub_xfer *xfer)
{
	if (xfer->status == 0 && fifo_head(xfer->uct_ep) == xfer->raddr + 1)
		xfer->h.flags |= UB_F_FIFO;
	else
		xfer->raddr = 0;
}

static __always_inline int xfer_enter(struct pt_regs *ctx)
{
	const struct ub_site *site;
	struct frame *frame;
	struct ub_xfer *xfer;
	struct hit hit;

	if (!hit_begin(&hit, ctx))
		return 1;
	hit_args(&hit, ctx);
	site = hit.site;
	hit_stack_args(&hit, site->arg_comp);
	frame = frame_push(&hit, UB_XFER, true);
	if (!frame)
		return 1;
	xfer = &frame->xfer;
	xfer->uct_ep = hit.args[1];
	xfer->iface = read_u64(xfer->uct_ep);
	xfer->am_id = arg(&hit, site->arg_am_id);
	xfer->raddr = arg(&hit, site->arg_tag);
	if (!site->arg_am_id)
		xfer->laddr = arg(&hit, site->arg_buffer);
	xfer->length = xfer_length(&hit, xfer);
	if (site->arg_am_id)
		xfer_wire_header(&hit, xfer);
	if (site->what == UB_XFER_MM && fifo_wanted(xfer->h.seq))
		xfer->raddr = fifo_head(xfer->uct_ep);
	if (hit.layout->req_size) {
		__u64 worker = read_u64(xfer->iface + hit.layout->iface_worker);

		xfer_find_request(&hit, xfer, worker);
		if (xfer->req)
			xfer_request(&hit, xfer);
	}
	return 0;
}

/* The name of a protocol-v2 request's protocol, once per process. */
static __always_inline void emit_proto_name(struct task_state *task, const struct ub_xfer *xfer,
					    const struct ub_layout *layout)
{
	struct named_key key = {
		.pointer = xfer->proto,
		.mm = (__u64)bpf_get_current_task_btf()->mm,
	};
	struct ub_name name = {};
	__u8 one = 1;

	if (task->last_proto[0] == xfer->proto || task->last_proto[1] == xfer->proto)
		return;
	task->last_proto[1] = task->last_proto[0];
	task->last_proto[0] = xfer->proto;
	if (bpf_map_lookup_elem(&named, &key) ||
	    bpf_map_update_elem(&named, &key, &one, BPF_NOEXIST))
		return;
	name.h = xfer->h;
	name.h.kind = UB_NAME;
	name.h.seq = 0;
	name.key = xfer->proto;
	bpf_probe_read_user_str(name.name, sizeof(name.name),
				(void *)read_u64(xfer->proto + layout->proto_name));
	emit(&name);
}

static __always_inline int xfer_leave(struct pt_regs *ctx)
{
	struct leaving leaving;
	struct ub_xfer *xfer;
	__s64 ret;

	if (!leave_begin(&leaving, ctx))
		return 0;
	xfer = &leaving.frame->xfer;
	ret = PT_REGS_RC(ctx);
	xfer->status = (__s8)ret;
	if (leaving.site->length_rule == UB_LEN_RETURN) {
		xfer->length = ret < 0 ? 0 : ret;
		xfer->status = ret < 0 ? (__s8)ret : 0;
	}
	if (leaving.site->what == UB_XFER_MM && fifo_wanted(xfer->h.seq))
		fifo_position(xfer);
	if (xfer->proto && leaving.layout->proto_name != UB_OFF_UNKNOWN)
		emit_proto_name(leaving.task, xfer, leaving.layout);
	emit(xfer);
	return 0;
}

SPAN(xfer, xfer_enter, xfer_leave)
