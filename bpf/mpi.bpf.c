/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * MPI calls: entry only, since return probes there break programs that switch stacks inside the
 * call. For exact ends there is a second form.
 */
#include "poll.bpf.h"
#include "span.bpf.h"
#include "stack.bpf.h"

/* Number of entries in no_call_end; at 0 no program looks it up. Written by user space. */
volatile __u32 no_call_ends = 0;

/* Set by user space before it removes the return probes. */
volatile __u32 call_ends_over = 0;

/* tgid -> 1: a process whose stacks may be switched inside an MPI call. Written by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u32);
	__uint(map_flags, BPF_F_NO_PREALLOC);
} no_call_end SEC(".maps");

/* Whether it has a frame. */
static __always_inline bool call_enter(struct pt_regs *ctx, const struct hit *hit, bool ends)
{
	__u64 *args = (__u64 *)hit->task->scratch; /* the stack is short */
	bool poll = hit->site->what == UB_CALL_POLL;
	struct polled polled = { hit->sp, hit->ts, 0, hit->row, ends };
	struct ub_call *call;

	read_args(args, ctx, hit);
	polled.comm = args[hit->site->arg_comm & (ARGS - 1)];
	if (poll && poll_joins(hit->task, &polled))
		return true;
	call = call_place(hit, frame_settled(hit->task, hit->sp), slot_value(hit->sp), ends,
			  poll ? UB_POLLS : UB_CALL);
	call->comm = polled.comm;
	if (poll)
		poll_begins(hit->task, (struct ub_polls *)call);
	if (stacks_on)
		stack_take(ctx, hit, call);
	return !(call->h.flags & UB_F_DEEP);
}

SEC("uprobe")
int call_entry(struct pt_regs *ctx)
{
	struct hit hit;

	own_stack(ctx);
	if (!hit_begin(&hit, ctx) || unlikely(calls_away >> hit.site->derivable & 1))
		return 0;
	if (call_enter(ctx, &hit, false))
		call_awaits(&hit);
	else
		hit.task->callers.back = calls_back;
	outbox_settle(&hit.task->outbox, hit.ts);
	return 0;
}

/* Returns 1 if the return is not wanted. Without room for its frame a call has no end. */
static __always_inline int call_enter_end(struct pt_regs *ctx)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	bool ends = !call_ends_over && (!no_call_ends || !bpf_map_lookup_elem(&no_call_end, &tgid));
	struct hit hit;

	if (!hit_begin(&hit, ctx))
		return 1;
	ends = call_enter(ctx, &hit, ends) && ends;
	outbox_settle(&hit.task->outbox, hit.ts);
	return !ends;
}

static __always_inline int call_leave(struct pt_regs *ctx)
{
	struct ub_call_end *end;
	struct leaving leaving;

	if (!leave_begin(&leaving, ctx))
		return 0;
	if (!poll_ends(leaving.task, leaving.frame, leaving.now)) {
		end = place(&leaving.task->outbox, ub_call_end, UB_CALL_END, leaving.now);
		leave_header(&end->h, &leaving);
		end->h.kind = UB_CALL_END;
		end->h.ts = leaving.now;
		end->h.call = end->h.seq;
		end->h.seq = 0;
	}
	outbox_settle(&leaving.task->outbox, leaving.now);
	return 0;
}

SPAN(exact, call_enter_end, call_leave)
