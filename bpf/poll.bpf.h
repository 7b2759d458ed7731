/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Loops of MPI_Test and the like: one record for as many calls as follow each other from the same
 * place, kept up to date in the outbox until something else is placed behind it. A call inside of
 * which something is recorded is thus the last one of its record.
 */
#ifndef UCXBPF_POLL_BPF_H
#define UCXBPF_POLL_BPF_H

#include "call.bpf.h"
#include "joinable.bpf.h"

/* A call that was entered. */
struct polled {
	__u64 sp, ts, comm;
	__u16 row;
	bool ends; /* its return is awaited */
};

/* Whether it is like the last one of the record, and follows it as closely as in a loop. */
static __always_inline bool same_poll(const struct outbox *box, const struct polled *poll,
				      const struct ub_polls *polls, const struct frame *frame)
{
	__u64 began = polls->call.h.ts + polls->began;

	return frame->seq == polls->last && frame->sp == poll->sp && frame->span == poll->ends &&
	       polls->call.h.site == poll->row && polls->call.comm == poll->comm &&
	       polls->ended == (poll->ends ? polls->count : 0) && poll->ts - began <= BATCH_NS &&
	       box->closed == (~slice_detail(poll->ts) & 1) &&
	       polls->call.ret_addr == slot_value(poll->sp);
}

/*
 * Adds the call to the record of those before it, and opens its frame. The frame of the last one is
 * over, as its stack slot is entered again; if its return was awaited, that has closed it. False:
 * it gets a record of its own. Not static: verified once.
 */
__weak __noinline int poll_joins(struct task_state *task, const struct polled *poll)
{
	struct ub_polls *polls;
	struct frame *frame;
	struct parents up;
	__u64 at;

	if (!task || !poll)
		return false;
	polls = joinable(task, ub_polls, UB_POLLS);
	at = task->depth - !poll->ends;
	frame = frame_at(task, at);
	if (!polls || !frame || !same_poll(&task->outbox, poll, polls, frame))
		return false;
	task->depth = at;
	up = parents_in(frame_settled(task, poll->sp));
	if (task->depth != at || up.call != polls->call.h.call || up.op != polls->call.h.op ||
	    up.rx != polls->call.h.rx)
		return false;
	task->depth++;
	frame->seq = ++task->next_seq;
	frame->ts = poll->ts;
	frame->looked = 0;
	polls->count++;
	polls->last = frame->seq;
	polls->began = poll->ts - polls->call.h.ts;
	polls->call.h.dur = polls->began;
	return true;
}

/* The call whose record was placed last is one that later ones may join. */
static __always_inline void poll_begins(struct task_state *task, struct ub_polls *polls)
{
	polls->count = 1;
	polls->last = polls->call.h.seq;
	polls->began = 0;
	polls->ended = 0;
	polls->time = 0;
	joinable_from_now(task);
}

/* The call with that frame has returned. False: its record is no longer the last one. */
static __always_inline bool poll_ends(struct task_state *task, const struct frame *frame, __u64 now)
{
	struct ub_polls *polls = joinable(task, ub_polls, UB_POLLS);

	if (!polls || polls->last != frame->seq)
		return false;
	/* no exact end fits into dur */
	if (now - polls->call.h.ts > 0xffffffff)
		return false;
	polls->ended++;
	polls->time += now - frame->ts;
	polls->call.h.dur = duration(polls->call.h.ts, now);
	return true;
}

#endif
