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

static __always_inline __u64 iov_length(const struct leaving *leaving, struct ub_xfer *xfer)
{
	__u64 base = arg(leaving, leaving->site->arg_iov);
	__u64 n = arg(leaving, leaving->site->arg_iovcnt);
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

static __always_inline __s64 xfer_length(const struct leaving *leaving, struct ub_xfer *xfer)
{
	const struct ub_site *site = leaving->site;

	switch (site->length_rule) {
	case UB_LEN_ARG32:
		return (__u32)arg(leaving, site->arg_count);
	case UB_LEN_ARG64:
		return arg(leaving, site->arg_count);
	case UB_LEN_IOV:
		return iov_length(leaving, xfer);
	case UB_LEN_SHORT_AM:
		return 8 + (__u32)arg(leaving, site->arg_count);
	case UB_LEN_ZCOPY_AM:
		return (__u32)arg(leaving, site->arg_header_len) + iov_length(leaving, xfer);
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
static __always_inline void xfer_wire_header(const struct leaving *leaving, struct ub_xfer *xfer)
{
	const struct ub_site *site = leaving->site;
	__u32 words = am_header_words(xfer->am_id);
	__u64 address = 0;

	if (words > 3)
		words = 3;
	if (site->length_rule == UB_LEN_SHORT_AM) {
		xfer->w[0] = arg(leaving, site->arg_aux);
		xfer->h.flags |= UB_F_WIRE;
		if (words > 1 && (__u32)arg(leaving, site->arg_count) >= (words - 1) * 8)
			read_words(&xfer->w[1], words == 3 ? 2 : 1, arg(leaving, site->arg_buffer));
		return;
	}
	if (site->length_rule == UB_LEN_ZCOPY_AM &&
	    (__u32)arg(leaving, site->arg_header_len) >= words * 8)
		address = arg(leaving, site->arg_aux);
	else if (site->length_rule == UB_LEN_IOV)
		address = xfer->laddr;
	if (address && !read_words(xfer->w, words, address))
		xfer->h.flags |= UB_F_WIRE;
}

/*
 * An endpoint's iface and that iface's worker: two reads of user memory, so a task remembers the
 * last ones until any endpoint comes or goes.
 */
static __always_inline struct home home_of(struct task_state *task, __u64 uct_ep,
					   const struct ub_layout *layout)
{
	struct home *home = &task->homes[uct_ep >> 6 & (HOMES - 1)];

	if (home->uct_ep == uct_ep && home->generation == ep_generation)
		return *home;
	home->generation = ep_generation;
	home->uct_ep = uct_ep;
	home->iface = read_u64(uct_ep);
	home->worker = layout->req_size ? read_u64(home->iface + layout->iface_worker) : 0;
	return *home;
}

/* Takes what is wanted from the request that was loaded last. */
static __always_inline void owner_take(struct owner *owner, const struct task_state *task,
				       const struct ub_layout *layout, __u64 req, __u16 found_by)
{
	__u64 config;

	owner->req = req;
	owner->found_by = found_by;
	owner->ucp_ep = request_u64(task, layout->req_ep);
	owner->super_req = request_u64(task, layout->req_super);
	owner->req_flags = request_u32(task, layout->req_flags);
	owner->length = request_length(task, layout);
	owner->w[0] = request_u64(task, layout->req_msg_tag);
	owner->w[1] = owner->length;
	owner->w[2] = request_u64(task, layout->req_msg_id);
	owner->proto = 0;
	if (!(owner->req_flags & UCP_REQUEST_FLAG_PROTO_SEND))
		return;
	config = request_u64(task, layout->req_proto_config);
	if (config && layout->proto_config_proto != UB_OFF_UNKNOWN)
		owner->proto = read_u64(config + layout->proto_config_proto);
}

/* Which request does a transfer belong to: by its completion, else by the packing argument. */
static __always_inline void owner_find(struct owner *owner, struct task_state *task,
				       const struct ub_layout *layout, __u64 worker, __u64 comp,
				       __u64 pack)
{
	__u64 first;

	owner->req = 0;
	if (!layout->req_size || (!comp && !pack))
		return;
	if (comp) {
		comp -= layout->req_uct_comp;
		if (request_valid(task, layout, comp, worker))
			owner_take(owner, task, layout, comp, UB_F_REQ_BY_COMP);
		return;
	}
	if (!request_load(task, pack))
		return;
	/*
	 * The argument is the request, or a packing context on the stack that starts with a pointer
	 * to it. Such a context may hold an endpoint where a request would, so the pointer is tried
	 * first; a request starts with its status, in progress or done.
	 */
	first = request_u64(task, 0);
	if ((__u32)first > UCS_INPROGRESS && request_valid(task, layout, first, worker))
		owner_take(owner, task, layout, first, UB_F_REQ_BY_ARG);
	else if (request_valid(task, layout, pack, worker))
		owner_take(owner, task, layout, pack, UB_F_REQ_BY_ARG);
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
#define FIFO_ALWAYS 64 /* of a task's first frames, in each window, */
#define FIFO_EVERY 16 /* then one in so many; a power of two */

static __always_inline __u64 fifo_head(__u64 uct_ep)
{
	return read_u64(read_u64(uct_ep + MM_EP_FIFO_CTL) + MM_FIFO_HEAD) & ~MM_FIFO_HEAD_ARMED;
}

static __always_inline bool fifo_wanted(const struct task_state *task, __u32 seq)
{
	return seq - task->window_seq < FIFO_ALWAYS || (seq & (FIFO_EVERY - 1)) == 0;
}

/* With another sender in between, the position is not known. */
static __always_inline void fifo_position(struct ub_xfer *xfer, __u64 before)
{
	if (xfer->status != 0 || fifo_head(xfer->uct_ep) != before + 1)
		return;
	xfer->raddr = before;
	xfer->h.flags |= UB_F_FIFO;
}

static __always_inline void owner_at_entry(struct frame *frame, const struct hit *hit)
{
	const struct ub_layout *layout = layout_at(hit->slot);

	if (layout)
		owner_find(&frame->owner, hit->task, layout,
			   home_of(hit->task, frame->args[1], layout).worker, 0,
			   frame->args[hit->site->arg_pack & (ARGS - 1)]);
}

static __always_inline int xfer_enter(struct pt_regs *ctx)
{
	struct frame *frame;
	struct hit hit;
	__u64 comp;

	frame = span_enter(&hit, ctx, UB_XFER);
	if (!frame)
		return 1;
	frame->comp_func = 0;
	frame->comp_count = 0;
	comp = frame->args[hit.site->arg_comp & (ARGS - 1)];
	if (comp) {
		struct uct_completion c = {};

		bpf_probe_read_user(&c, sizeof(c), (void *)comp);
		frame->comp_func = c.func;
		frame->comp_count = c.count;
	}
	if (hit.site->what == UB_XFER_MM && fifo_wanted(hit.task, frame->seq))
		frame->fifo_head = fifo_head(frame->args[1]);
	if (hit.site->what == UB_XFER_SELF)
		owner_at_entry(frame, &hit);
	return 0;
}

/* The name of a protocol-v2 request's protocol, once per process and before it is needed. */
static __always_inline void name_protocol(const struct leaving *leaving, __u64 proto)
{
	struct task_state *task = leaving->task;
	struct named_key key = {
		.pointer = proto,
		.mm = (__u64)bpf_get_current_task_btf()->mm,
	};
	struct ub_name *name;
	__u8 one = 1;

	if (task->last_proto[0] == proto || task->last_proto[1] == proto)
		return;
	task->last_proto[1] = task->last_proto[0];
	task->last_proto[0] = proto;
	if (bpf_map_lookup_elem(&named, &key) ||
	    bpf_map_update_elem(&named, &key, &one, BPF_NOEXIST))
		return;
	name = place(&task->outbox, ub_name, UB_NAME, leaving->frame->ts);
	__builtin_memset(name, 0, sizeof(*name));
	leave_header(&name->h, leaving);
	name->h.kind = UB_NAME;
	name->h.seq = 0;
	name->key = proto;
	bpf_probe_read_user_str(name->name, sizeof(name->name),
				(void *)read_u64(proto + leaving->layout->proto_name));
}

static __always_inline void xfer_arguments(struct ub_xfer *xfer, const struct leaving *leaving)
{
	const struct ub_site *site = leaving->site;

	xfer->uct_ep = leaving->frame->args[1];
	xfer->req = 0;
	xfer->super_req = 0;
	xfer->ucp_ep = 0;
	xfer->proto = 0;
	xfer->req_len = 0;
	xfer->w[0] = 0;
	xfer->w[1] = 0;
	xfer->w[2] = 0;
	xfer->am_id = arg(leaving, site->arg_am_id);
	xfer->raddr = arg(leaving, site->arg_tag);
	xfer->laddr = site->arg_am_id ? 0 : arg(leaving, site->arg_buffer);
	xfer->comp_func = leaving->frame->comp_func;
	xfer->comp_count = leaving->frame->comp_count;
	xfer->req_flags = 0;
	xfer->length = xfer_length(leaving, xfer);
	if (xfer->am_id)
		xfer_wire_header(leaving, xfer);
}

static __always_inline void xfer_result(struct ub_xfer *xfer, const struct leaving *leaving)
{
	__s64 ret = leaving->ret;

	xfer->status = (__s8)ret;
	if (leaving->site->length_rule == UB_LEN_RETURN) {
		xfer->length = ret < 0 ? 0 : ret;
		xfer->status = ret < 0 ? (__s8)ret : 0;
	}
	if (leaving->site->what == UB_XFER_MM && fifo_wanted(leaving->task, xfer->h.seq))
		fifo_position(xfer, leaving->frame->fifo_head);
}

static __always_inline void xfer_owner(struct ub_xfer *xfer, const struct owner *owner)
{
	xfer->req = owner->req;
	if (!owner->req)
		return;
	xfer->h.flags |= owner->found_by;
	xfer->super_req = owner->super_req;
	xfer->ucp_ep = owner->ucp_ep;
	xfer->req_len = owner->length;
	xfer->req_flags = owner->req_flags;
	if (owner->req_flags & UCP_REQUEST_FLAG_PROTO_SEND)
		xfer->h.flags |= UB_F_PROTO_V2;
	xfer->proto = owner->proto;
	if (!xfer->am_id || xfer->h.flags & UB_F_WIRE)
		return;
	xfer->w[0] = owner->w[0];
	xfer->w[1] = owner->w[1];
	xfer->w[2] = owner->w[2];
	xfer->h.flags |= UB_F_REQ;
}

static __always_inline int xfer_leave(struct pt_regs *ctx)
{
	struct leaving leaving;
	struct ub_xfer *xfer;
	struct owner *owner;
	struct home home;

	if (!leave_begin(&leaving, ctx))
		return 0;
	home = home_of(leaving.task, leaving.frame->args[1], leaving.layout);
	owner = &leaving.frame->owner;
	if (leaving.site->what != UB_XFER_SELF)
		owner_find(owner, leaving.task, leaving.layout, home.worker,
			   arg(&leaving, leaving.site->arg_comp),
			   arg(&leaving, leaving.site->arg_pack));
	if (owner->req && owner->proto && leaving.layout->proto_name != UB_OFF_UNKNOWN)
		name_protocol(&leaving, owner->proto);
	xfer = place(&leaving.task->outbox, ub_xfer, UB_XFER, leaving.frame->ts);
	leave_header(&xfer->h, &leaving);
	xfer->iface = home.iface;
	xfer_arguments(xfer, &leaving);
	xfer_result(xfer, &leaving);
	xfer_owner(xfer, owner);
	outbox_settle(&leaving.task->outbox, leaving.now);
	return 0;
}

SPAN(xfer, xfer_enter, xfer_leave)
