/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Which request a transfer belongs to, and where its endpoint lives. */
#ifndef UCXBPF_OWNER_BPF_H
#define UCXBPF_OWNER_BPF_H

#include "request.bpf.h"

/*
 * An endpoint's iface and that iface's worker: two reads of user memory, so a task remembers the
 * last ones until any endpoint comes or goes.
 */
static __always_inline struct home *home_of(struct task_state *task, __u64 uct_ep,
					    const struct ub_layout *layout)
{
	struct home *home = &task->homes[uct_ep >> 6 & (HOMES - 1)];

	if (home->uct_ep == uct_ep && home->generation == ep_generation)
		return home;
	home->generation = ep_generation;
	home->uct_ep = uct_ep;
	home->ucp_ep = 0;
	home->iface = read_u64(uct_ep);
	home->worker = layout->req_size ? read_u64(home->iface + layout->iface_worker) : 0;
	/* a page that is absent now may be present next time */
	if (!home->iface || (layout->req_size && !home->worker))
		home->generation = 0;
	return home;
}

/* Whether the bytes loaded last are a request on the worker of that home. */
static __always_inline bool request_here(const struct task_state *task,
					 const struct ub_layout *layout, struct home *home)
{
	__u64 ep = request_u64(task, layout->req_ep);

	if (!ep || !home->worker)
		return false;
	if (ep != home->ucp_ep && read_u64(ep + layout->ep_worker) != home->worker)
		return false;
	home->ucp_ep = ep;
	return true;
}

/* Takes the owner's fields from the request loaded last. */
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

/*
 * The packing argument is the request, or a packing context that starts with a pointer to it. Such
 * a context may hold an endpoint where a request would, so the pointer is tried first. Contexts lie
 * on the stack, below the operation's frame; requests may lie there, too, but above it (Open MPI's
 * MPI_Send): what one of them starts with, its status and flags, is no address to try.
 */
#define CONTEXT_DISTANCE 65536 /* bytes above the transfer's stack slot, outside an operation */

/* A transfer's hints at its request, and where the transfer was made. */
struct owner_hints {
	__u64 comp, pack;
	__u64 sp;
	__u64 contexts_end; /* packing contexts lie between sp and here */
	__u64 bare; /* and requests may, too; no hole in here, older kernels refuse to pass one on
		     */
};

/* Contexts of a put hold no request in protocol v1, so nothing else is tried there. */
static __always_inline void hints_place(struct owner_hints *hints, const struct frame *around,
					bool message)
{
	hints->contexts_end = hints->sp + CONTEXT_DISTANCE;
	hints->bare = message;
	if (is_operation(around)) {
		hints->contexts_end = around->sp;
		hints->bare = false;
	}
}

/* 0: no request. */
static __always_inline __u64 packed_request(struct task_state *task, const struct ub_layout *layout,
					    struct home *home, const struct owner_hints *hints)
{
	bool bare = true;

	if (hints->pack > hints->sp && hints->pack < hints->contexts_end) {
		__u64 first = read_u64(hints->pack);

		if (!(first & 7) && request_load(task, first) && request_here(task, layout, home))
			return first;
		bare = hints->bare;
	}
	if (!bare || !request_load(task, hints->pack) || !request_here(task, layout, home))
		return 0;
	return hints->pack;
}

/*
 * Finds the request of a transfer, by its completion or else by the packing argument. Not static:
 * verified once, and the caller's code after it not once more for each path through it.
 */
__weak __noinline int owner_find(struct owner *owner, struct task_state *task,
				 const struct ub_layout *layout, struct home *home,
				 const struct owner_hints *hints)
{
	__u64 by_comp, req = 0;

	if (!owner || !task || !layout || !home || !hints)
		return 0;
	owner->req = 0;
	if (!layout->req_size || (!hints->comp && !hints->pack))
		return 0;
	by_comp = hints->comp - layout->req_uct_comp;
	if (!hints->comp)
		req = packed_request(task, layout, home, hints);
	else if (request_load(task, by_comp) && request_here(task, layout, home))
		req = by_comp;
	if (req)
		owner_take(owner, task, layout, req,
			   hints->comp ? UB_F_REQ_BY_COMP : UB_F_REQ_BY_ARG);
	return 0;
}

#endif
