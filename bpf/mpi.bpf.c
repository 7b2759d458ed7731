/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * MPI calls: entry only, since return probes there break programs that switch stacks inside the
 * call. Those who ask for exact ends get the second form.
 */
#include "span.bpf.h"
#include "stack.bpf.h"

/* Number of entries in no_call_end; at 0 no program looks it up. Written by user space. */
volatile __u32 no_call_ends = 0;

/* Set by user space before it takes the return probes away. */
volatile __u32 call_ends_over = 0;

/* tgid -> 1: a process whose stacks may be switched inside an MPI call. Written by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u32);
	__uint(map_flags, BPF_F_NO_PREALLOC);
} no_call_end SEC(".maps");

/* Records inside a call name the user's call, not calls that MPI makes internally. */
static __always_inline __u32 call_rows(const struct hit *hit, struct parents up, __u64 call_site)
{
	__u32 tgid = hit->task->outbox.id >> 32;

	if (up.call && in_mpi(tgid, call_site))
		return up.rows | AROUND_INNER;
	return UB_ROWS_CALL(hit->row);
}

/* Says whether the return is wanted. Without a place for its frame a call has no end. */
static __always_inline bool call_enter(struct pt_regs *ctx, bool ends)
{
	__u64 args[ARGS] = {};
	struct ub_call *call;
	struct parents up;
	struct hit hit;

	if (!hit_begin(&hit, ctx))
		return false;
	read_args(args, ctx, &hit);
	call = place(&hit.task->outbox, ub_call, UB_CALL, hit.ts);
	up = parents_in(frame_top(&hit, UB_CALL));
	call->ret_addr = slot_value(hit.sp);
	up.rows = call_rows(&hit, up, call->ret_addr);
	ends = frame_enter(&call->h, &hit, UB_CALL, ends, up, call->ret_addr) && ends;
	call->comm = args[hit.site->arg_comm & (ARGS - 1)];
	if (stacks_on)
		stack_take(ctx, &hit, call);
	outbox_settle(&hit.task->outbox, hit.ts);
	return ends;
}

SEC("uprobe")
int call_entry(struct pt_regs *ctx)
{
	own_stack(ctx);
	call_enter(ctx, false);
	return 0;
}

static __always_inline int call_enter_end(struct pt_regs *ctx)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	bool ends = !call_ends_over && (!no_call_ends || !bpf_map_lookup_elem(&no_call_end, &tgid));

	return !call_enter(ctx, ends);
}

static __always_inline int call_leave(struct pt_regs *ctx)
{
	struct ub_call_end *end;
	struct leaving leaving;

	if (!leave_begin(&leaving, ctx))
		return 0;
	end = place(&leaving.task->outbox, ub_call_end, UB_CALL_END, leaving.now);
	leave_header(&end->h, &leaving);
	end->h.kind = UB_CALL_END;
	end->h.ts = leaving.now;
	end->h.call = end->h.seq;
	end->h.seq = 0;
	outbox_settle(&leaving.task->outbox, leaving.now);
	return 0;
}

SPAN(exact, call_enter_end, call_leave)
