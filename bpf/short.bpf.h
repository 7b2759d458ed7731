/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Short sends without probes. A tagged send that is done at its return has sent its message by
 * then. If no transfer was seen inside of it, that went by the one function whose probe is away:
 * am_short, on the lane that its endpoint's configuration has for such messages. Which lane that
 * is, is seen while the probes are in place, and compared again now and then.
 *
 * ucp_tag_send_nbx(), src/ucp/tag/tag_send.c, first tries uct_ep_am_short() on the lane for active
 * messages (ucp_ep_config_t.key.am_lane). Where that has no resources, the message gets a request,
 * and waits. UCX 1.13 to 1.22.
 */
#ifndef UCXBPF_SHORT_BPF_H
#define UCXBPF_SHORT_BPF_H

#include "caller.bpf.h"
#include "with_op.bpf.h"

/* Written and read here only. One that is evicted is learnt again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct lane_key);
	__type(value, struct lane);
} lanes SEC(".maps");

/* How often a lane was learnt. */
volatile __u64 shorts_learnt = 0;

/* Operations that were entered before, ns, may have sent while the probes were away. */
volatile __u64 shorts_back = 0;

/* ns: a thread that was the only sender for that long is expected to stay so. */
#define ALONE 10000000000ll
#define OTHERS_AGAIN 1000000000ll /* shortest interval between two notes of other senders */

#define EP_LANES 6 /* of all layouts, at most */
/* Of ucp_ep_t, from its first one on: worker, cfg_index, uct_eps. */
#define EP_WORDS (3 + EP_LANES)

static __always_inline __u64 ep_word(const struct task_state *task, __u32 offset)
{
	if (offset > EP_WORDS * 8 - 8)
		return 0;
	return *(const __u64 *)&task->scratch[offset & (SCRATCH - 8)];
}

/* The worker of an endpoint whose first words were read. */
static __always_inline bool lane_worker(struct lane_found *found, const struct task_state *task,
					const struct ub_layout *layout)
{
	__u64 worker = ep_word(task, 0);
	__u32 tgid = task->outbox.id >> 32, generation = ep_generation;

	if (found->worker == worker && found->generation == generation && found->key.tgid == tgid)
		return true;
	found->worker = 0;
	found->generation = generation;
	found->key.tgid = tgid;
	if (bpf_probe_read_user(&found->uuid, sizeof(found->uuid),
				(void *)(worker + layout->worker_uuid)))
		return false;
	found->worker = worker;
	return true;
}

#define LANE_PLACES 256 /* of a process */
#define LANE_HASH 0x9e3779b97f4a7c15ull

/* The configuration of its endpoint now. False: that cannot be known. */
static __always_inline bool lane_key_of(struct task_state *task, const struct ub_layout *layout)
{
	struct lane_found *found = &task->found;
	__u32 config;

	if (!layout->ep_config_bytes || layout->worker_uuid == UB_OFF_UNKNOWN ||
	    bpf_probe_read_user(task->scratch, EP_WORDS * 8, (void *)task->sent_op.ep))
		return false;
	config = ep_word(task, layout->ep_config & ~7) >> (layout->ep_config & 7) * 8;
	found->config = layout->ep_config_bytes == 1 ? config & 0xff : config & 0xffff;
	if (!lane_worker(found, task, layout))
		return false;
	/* configurations count from 0: those of one worker share no place */
	found->key.place = ((found->uuid * LANE_HASH >> 56) + found->config) % LANE_PLACES;
	return true;
}

/*
 * Finds the lane of the message of task->sent_op. False: it is not known, or another thread has
 * sent in the last ten seconds, or its endpoint's lane goes by another interface, as long as it is
 * a proxy for the wire-up. Not static: verified once.
 */
__weak __noinline int lane_find(struct task_state *task)
{
	const struct ub_layout *layout;
	struct lane_found *found;
	const struct lane *lane;
	struct lane_key key; /* before Linux 6.2 a key lies on the stack */

	if (!task)
		return 0;
	found = &task->found;
	found->known = 0;
	layout = layout_at(task->sent_op.slot);
	if (!layout || !lane_key_of(task, layout))
		return 0;
	found->known = 1;
	key = found->key;
	lane = bpf_map_lookup_elem(&lanes, &key);
	found->lane.row = 0;
	if (!lane || lane->uuid != found->uuid || lane->config != found->config)
		return 0;
	found->lane = *lane;
	found->uct_ep = ep_word(task, lane->at);
	return found->uct_ep && lane->tid == (__u32)task->outbox.id &&
	       (!lane->others || (__s64)(task->sent_op.ts - lane->others) >= ALONE) &&
	       home_of(task, found->uct_ep, layout)->iface == lane->iface;
}

/* The place of the lane with that uct_ep, as lane_find() has read it; 0: none. */
static __always_inline __u32 lane_at(const struct task_state *task, __u64 uct_ep,
				     const struct ub_layout *layout)
{
	for (__u32 i = 0; i < EP_LANES; i++)
		if (i < layout->ep_lane_count && ep_word(task, layout->ep_lanes + i * 8) == uct_ep)
			return layout->ep_lanes + i * 8;
	return 0;
}

/*
 * Whether several threads send on the lane that was found. One that takes it over is noted once a
 * second, since they may take turns.
 */
static __always_inline bool lane_shared(struct task_state *task)
{
	struct lane lane = task->found.lane;
	struct lane_key key = task->found.key;
	__u64 now = task->sent_op.ts;

	if (!lane.row)
		return false;
	if (lane.tid == (__u32)task->outbox.id)
		return lane.others && (__s64)(now - lane.others) < ALONE;
	if (lane.others && (__s64)(now - lane.others) < OTHERS_AGAIN)
		return true;
	lane.tid = task->outbox.id;
	lane.others = now;
	bpf_map_update_elem(&lanes, &key, &lane, BPF_ANY);
	return true;
}

static __always_inline bool short_learn(struct task_state *task)
{
	const struct frame *xfer = &task->with_op;
	const struct ub_layout *layout = layout_at(task->sent_op.slot);
	struct lane_found *found = &task->found;
	struct lane lane = { .uuid = found->uuid,
			     .config = found->config,
			     .row = xfer->row,
			     .tid = task->outbox.id };
	struct lane_key key = found->key;

	if (!layout || !found->known || lane_shared(task))
		return false;
	lane.at = lane_at(task, xfer->args[1], layout);
	if (!lane.at)
		return false;
	lane.iface = home_of(task, xfer->args[1], layout)->iface;
	if (bpf_map_update_elem(&lanes, &key, &lane, BPF_ANY))
		return false;
	__sync_fetch_and_add(&shorts_learnt, 1);
	return true;
}

/*
 * Compares an operation inside which transfers were seen with the transfer that its result implies.
 * Not static: verified once.
 */
__weak __noinline int short_check(struct task_state *task)
{
	const struct sent_op *op;
	const struct frame *xfer;
	bool known;

	if (!task)
		return 0;
	op = &task->sent_op;
	xfer = &task->with_op;
	/* a single one, by a function whose probe would be away */
	if (xfer->up.op != op->seq || xfer->seq != op->seq + 1 || task->next_seq != xfer->seq ||
	    !xfer->derivable)
		return 0;
	if (!op->tagged || op->status || !calls_checked)
		return 0;
	known = lane_find(task);
	if (known && (task->found.lane.row != xfer->row || task->found.uct_ep != xfer->args[1]))
		derived_count(UB_SHORT_SENDS, differing);
	else if (known)
		derived_count(UB_SHORT_SENDS, checked);
	else if (!short_learn(task))
		derived_count(UB_SHORT_SENDS, without);
	return 0;
}

/*
 * The transfer as with_op_enter() would have left it. Arguments of am_short: (ep, id, header,
 * payload, length), see user/observe/probe/sites_uct.c.
 */
static __always_inline void short_derive(struct task_state *task)
{
	const struct sent_op *op = &task->sent_op;
	struct frame *xfer = &task->with_op;

	xfer->up = op->up;
	xfer->kind = UB_XFER;
	xfer->row = task->found.lane.row;
	xfer->slot = op->slot;
	xfer->ts = op->ts + 1; /* readers sort by time: behind its operation */
	xfer->comp_func = 0;
	xfer->comp_count = 0;
	xfer->owner.req = 0;
	xfer->position = op->position;
	xfer->args[0] = 0;
	xfer->args[1] = task->found.uct_ep;
	xfer->args[2] = AM_EAGER_ONLY;
	xfer->args[3] = op->tag;
	xfer->args[4] = 0; /* the header is all that is kept */
	xfer->args[5] = op->length;
	xfer->seq = ++task->next_seq;
	xfer->derived = 1;
	task->with_op_open = 1;
	derived_count(UB_SHORT_SENDS, derived);
}

/* Something may have been sent without a record: later order is not known. */
static __always_inline void short_unproven(struct task_state *task)
{
	const struct sent_op *op = &task->sent_op;
	struct ub_loss *loss = loss_place(&task->outbox, op->ts);

	loss->h.site = op->row;
	loss->call = 0; /* none is missing */
	loss->call_site = 0;
	loss->until = op->now;
	loss->unseen = 1;
	derived_count(UB_SHORT_SENDS, unproven);
}

/*
 * task->sent_op is over, and its record is made. True: its transfer follows, which with_op_leave()
 * has to make. Not static: verified once.
 */
__weak __noinline int short_leave(struct task_state *task)
{
	const struct sent_op *op;

	if (!task)
		return 0;
	op = &task->sent_op;
	if (op->moved) {
		short_check(task);
		return 0;
	}
	if (!(calls_derived & UB_SHORTS) && op->ts >= shorts_back) {
		/* some function has no probe */
		if (calls_checked && op->tagged && !op->status)
			derived_count(UB_SHORT_SENDS, differing);
		/* its request waits for a lane, and leaves from progress */
		else if (op->status)
			derived_count(UB_SHORT_SENDS, without);
		return 0;
	}
	if (op->tagged && !op->status && !task->with_op_open && lane_find(task)) {
		short_derive(task);
		return 1;
	}
	short_unproven(task);
	return 0;
}

/*
 * The position before task->sent_op, which is being entered, see position_before(): by the lane
 * that its message will take, if that is short. Not static: verified once.
 */
__weak __noinline __u64 short_position(struct task_state *task)
{
	const struct ub_site *site;
	__u32 row;

	if (!task || !lane_find(task))
		return FIFO_NOT_SEEN;
	row = task->found.lane.row;
	site = bpf_map_lookup_elem(&sites, &row);
	return site ? position_before(task, site, task->found.uct_ep, AM_EAGER_ONLY,
				      task->sent_op.ts)
		    : FIFO_NOT_SEEN;
}

#endif
