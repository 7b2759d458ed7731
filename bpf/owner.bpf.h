/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Which request a transfer belongs to, and where its endpoint lives. */
#ifndef UCXBPF_OWNER_BPF_H
#define UCXBPF_OWNER_BPF_H

#include "request.bpf.h"

#define UCS_INPROGRESS 1

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
	/* a page that is not in place now may be the next time */
	if (!home->iface || (layout->req_size && !home->worker))
		home->generation = 0;
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

/*
 * The packing argument is the request, or a packing context on the stack that starts with a pointer
 * to it. Such a context may hold an endpoint where a request would, so the pointer is tried first;
 * a request starts with its status, in progress or done. 0: neither.
 */
static __always_inline __u64 packed_request(struct task_state *task, const struct ub_layout *layout,
					    __u64 worker, __u64 pack)
{
	__u64 first;

	if (!request_load(task, pack))
		return 0;
	first = request_u64(task, 0);
	if ((__u32)first > UCS_INPROGRESS && request_valid(task, layout, first, worker))
		return first;
	return request_valid(task, layout, pack, worker) ? pack : 0;
}

/* Which request does a transfer belong to: by its completion, else by the packing argument. */
static __always_inline void owner_find(struct owner *owner, struct task_state *task,
				       const struct ub_layout *layout, __u64 worker, __u64 comp,
				       __u64 pack)
{
	__u64 req = 0;

	owner->req = 0;
	if (!layout->req_size || (!comp && !pack))
		return;
	if (!comp)
		req = packed_request(task, layout, worker, pack);
	else if (request_valid(task, layout, comp - layout->req_uct_comp, worker))
		req = comp - layout->req_uct_comp;
	if (req)
		owner_take(owner, task, layout, req, comp ? UB_F_REQ_BY_COMP : UB_F_REQ_BY_ARG);
}

#endif
