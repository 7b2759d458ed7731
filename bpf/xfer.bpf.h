/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* A transfer's record, made at its return from its arguments and its result. */
#ifndef UCXBPF_XFER_BPF_H
#define UCXBPF_XFER_BPF_H

#include "length.bpf.h"
#include "owner.bpf.h"
#include "socket.bpf.h"
#include "span.bpf.h"

static __always_inline void xfer_length(struct ub_xfer *xfer, const struct leaving *leaving)
{
	const struct ub_site *site = leaving->site;
	struct iov_sum sum = {};

	xfer->length = length_direct(site, leaving->frame->args);
	if (likely(!site->arg_iov))
		return;
	iov_sum(&sum, arg(leaving, site->arg_iov), arg(leaving, site->arg_iovcnt));
	xfer->length += sum.bytes;
	xfer->laddr = sum.first;
	xfer->h.flags |= sum.unknown * UB_F_READ_FAULT;
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
 * The position that a message without an id will get: its number in the FIFO, or its first byte's
 * in the connection. FIFO_NOT_SEEN: no position, or not read at this hit.
 */
static __always_inline __u64 position_before(struct task_state *task, const struct ub_site *site,
					     __u64 uct_ep, __u8 am_id, __u64 ts)
{
	bool tcp = site->what == UB_XFER_TCP;

	if ((!tcp && site->what != UB_XFER_MM) || !am_without_id(am_id) ||
	    likely(!fifo_due(&task->sends, ts)))
		return FIFO_NOT_SEEN;
	return tcp ? socket_head(uct_ep) : fifo_head(uct_ep);
}

/* With another sender in between, the position is not known. */
static __always_inline void xfer_position(struct ub_xfer *xfer, __u64 before, __u8 what)
{
	if (likely(before == FIFO_NOT_SEEN) || xfer->status != 0)
		return;
	if (what == UB_XFER_TCP ? !socket_took(xfer->uct_ep, before, xfer->length)
				: fifo_head(xfer->uct_ep) != before + 1)
		return;
	xfer->raddr = before;
	xfer->h.flags |= what == UB_XFER_TCP ? UB_F_SOCKET : UB_F_FIFO;
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
	xfer_length(xfer, leaving);
	if (xfer->am_id)
		xfer_wire_header(leaving, xfer);
}

/* The name of a protocol-v2 request's protocol, once per process and before it is needed. */
__weak __noinline int name_protocol(struct task_state *task, struct frame *frame,
				    const struct ub_layout *layout)
{
	struct named_key key = { .mm = address_space() };
	struct ub_name *name;
	__u8 one = 1;
	__u64 proto;

	if (!task || !frame || !layout || layout->proto_name == UB_OFF_UNKNOWN)
		return 0;
	proto = frame->owner.proto;
	task->last_proto[1] = task->last_proto[0];
	task->last_proto[0] = proto;
	key.pointer = proto;
	key.tgid = task->outbox.id >> 32;
	if (bpf_map_lookup_elem(&named, &key))
		return 0;
	bpf_map_update_elem(&named, &key, &one, BPF_ANY); /* no room: it is emitted again */
	name = place(&task->outbox, ub_name, UB_NAME, frame->ts);
	__builtin_memset(name, 0, sizeof(*name));
	header_fill(&name->h, task, frame->ts, frame->row, frame->slot, UB_NAME, frame->up);
	name->key = proto;
	bpf_probe_read_user_str(name->name, sizeof(name->name),
				(void *)read_u64(proto + layout->proto_name));
	return 0;
}

/* Looks for the request of the frame's transfer. */
static __always_inline void owner_look(struct task_state *task, struct frame *frame,
				       const struct ub_layout *layout,
				       const struct owner_hints *hints)
{
	struct owner *owner = &frame->owner;

	owner_find(owner, task, layout, home_of(task, frame->args[1], layout), hints);
	if (owner->req && owner->proto && task->last_proto[0] != owner->proto &&
	    task->last_proto[1] != owner->proto)
		name_protocol(task, frame, layout);
}

/*
 * For fold.bpf.h: UCP has taken the length of the user's header from the operation around it. Not
 * static: verified once, and not on each way here.
 */
__weak __noinline int xfer_user_header(struct ub_xfer *xfer, struct task_state *task)
{
	const struct ub_site *site;
	const struct frame *op;
	__u64 length;
	__u32 row;

	if (!xfer || !task)
		return 0;
	op = frame_innermost(task);
	if (!is_operation(op) || op->seq != xfer->h.op)
		return 0;
	row = op->row;
	site = bpf_map_lookup_elem(&sites, &row);
	length = site ? op->args[site->arg_aux & (ARGS - 1)] : 0;
	xfer->h.cpu = length < 0xffff ? length + 1 : 0;
	return 0;
}

static __always_inline void xfer_result(struct ub_xfer *xfer, const struct leaving *leaving)
{
	xfer->status =
		length_result((__u64 *)&xfer->length, leaving->site->length_rule, leaving->ret);
	xfer_position(xfer, leaving->frame->position, leaving->site->what);
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

static __always_inline void xfer_fill(struct ub_xfer *xfer, const struct leaving *leaving,
				      const struct owner *owner, __u64 iface)
{
	leave_header(&xfer->h, leaving);
	xfer->iface = iface;
	xfer_arguments(xfer, leaving);
	xfer_result(xfer, leaving);
	xfer_owner(xfer, owner);
	if (unlikely(has_user_header(xfer->am_id)))
		xfer_user_header(xfer, leaving->task);
}

#endif
