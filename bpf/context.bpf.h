/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Context of a probe hit: the process filter and the arguments. */
#ifndef UCXBPF_CONTEXT_BPF_H
#define UCXBPF_CONTEXT_BPF_H

#include "emit.bpf.h"
#include "run_context.bpf.h"
#include <bpf/bpf_tracing.h>

#if defined(__TARGET_ARCH_x86)
#define ARG_REGISTERS 6
#define SLOT_HAS_RETURN 1 /* *(sp) is the return address at entry */
#define SP_AFTER_RETURN 8 /* how far the return moves the stack pointer */
#define STACK_ARGS 8 /* place of the first stack argument at entry, from the stack pointer */
#else
#define ARG_REGISTERS 8
#define SLOT_HAS_RETURN 0
#define SP_AFTER_RETURN 0
#define STACK_ARGS 0
#endif

/*
 * A program's variables stay with the task that runs it. Since Linux 6.13 the x86 JIT gives a
 * kprobe-type program a stack per CPU instead of the task's (kernel/bpf/verifier.c,
 * bpf_enable_priv_stack()). A uprobe's program may be preempted, and a sleepable one waits, so that
 * another task's hit on that CPU writes over the variables: a pointer checked by the verifier is
 * then anything. A program that could make a tail call keeps the task's stack. Never set: the
 * verifier takes the call out again, once it has been seen.
 */
const volatile bool tail_calls __weak = false;

/* To be called by each program that a uprobe runs; scripts/check-stacks looks for it. */
static __always_inline void own_stack(struct pt_regs *ctx)
{
	if (tail_calls)
		bpf_tail_call(ctx, NULL, 0);
}

/* One hit of an entry probe. */
struct hit {
	struct task_state *task;
	const struct ub_site *site;
	__u64 sp; /* at the function's entry */
	__u64 function; /* address of its first instruction */
	__u64 ts;
	__u64 ret; /* its return address: set by op_enter() only */
	__u16 row;
	__u16 wrappers;
	__u8 slot;
};

static __always_inline __u64 read_u64(__u64 address)
{
	__u64 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (void *)address);
	return value;
}

/* The value in the stack slot of a function that was entered at this stack pointer. */
static __always_inline __u64 slot_value(__u64 sp)
{
	return SLOT_HAS_RETURN ? read_u64(sp) : 0;
}

/* ns, as records keep it; a longer one reads as the greatest. */
static __always_inline __u32 duration(__u64 from, __u64 until)
{
	return until - from > 0xffffffff ? 0xffffffff : until - from;
}

/* The mm_struct: identifies the address space of a process. */
static __always_inline __u64 address_space(void)
{
	return (__u64)current_task()->mm;
}

/* A program that also records between windows defines this before the include. */
#ifndef QUIET_FROM
#define QUIET_FROM UB_BETWEEN_WINDOWS
#endif

static __always_inline void count_lost_returns(__u32 n)
{
	struct ub_cpu_stats *st = n ? cpu_stats() : NULL;

	if (st)
		__sync_fetch_and_add(&st->s.lost_returns, n);
}

static __always_inline void count_lost_return(void)
{
	count_lost_returns(1);
}

static __always_inline void count_deep(void)
{
	struct ub_cpu_stats *st = cpu_stats();

	if (st)
		__sync_fetch_and_add(&st->s.deep, 1);
}

static __always_inline void count_nomem(void)
{
	struct ub_cpu_stats *st = cpu_stats();

	if (st)
		__sync_fetch_and_add(&st->s.task_nomem, 1);
}

static __always_inline bool process_traced(__u32 tgid)
{
	return bpf_map_lookup_elem(&processes, &tgid);
}

static __always_inline bool filter_valid(const struct task_filter *filter)
{
	return filter->generation == filter_generation;
}

/* Looks the process up in the map again. */
static __always_inline bool filter_ask(struct task_filter *filter, __u32 tgid)
{
	filter->generation = filter_generation;
	filter->verdict = process_traced(tgid) ? FILTER_TRACED : FILTER_IGNORED;
	return filter->verdict == FILTER_TRACED;
}

/* Storage for a task that has none in that map; tasks of other jobs cost no memory. */
static __always_inline void *task_new(void *map, __u32 tgid)
{
	void *task;

	if (!process_traced(tgid))
		return NULL;
	task = bpf_task_storage_get(map, bpf_get_current_task_btf(), NULL,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!task)
		count_nomem();
	return task;
}

/*
 * The probes were away: calls of another window may have the same stack slots by now. Not static:
 * verified once.
 */
__weak __noinline int frames_forget(struct task_state *task)
{
	__u32 lost;

	if (!task)
		return 0;
	lost = !!task->with_op_open;
	for (__u32 i = 0; i < FRAMES; i++)
		lost += i < task->depth && task->frames[i].span;
	count_lost_returns(lost);
	task->with_op_open = 0;
	task->depth = 0;
	task->window = window;
	task->sends.burst = 0;
	task->receiver.turn.burst = 0;
	task->reading.turn.burst = 0;
	task->reading.sk = 0;
	return 0;
}

/* A task that is new, or has not asked since processes came. */
static __noinline struct task_state *task_ask(struct task_state *task)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;

	if (!task)
		task = task_new(&tasks, tgid);
	if (!task)
		return NULL;
	task->outbox.id = bpf_get_current_pid_tgid();
	task->outbox.space = address_space();
	if (task->window != window)
		frames_forget(task);
	return filter_ask(&task->filter, tgid) ? task : NULL;
}

/* NULL: the task is not traced, or tracing has ended. Works between windows, too. */
static __always_inline struct task_state *task_state(void)
{
	struct task_state *task = bpf_task_storage_get(&tasks, current_task(), NULL, 0);

	if (unlikely(stopped == UB_STOP))
		return NULL;
	if (unlikely(!task || !filter_valid(&task->filter)))
		return task_ask(task);
	return likely(task->filter.verdict == FILTER_TRACED) ? task : NULL;
}

/* Which site was hit, with which layout and stack pointer. */
static __always_inline void hit_place(struct hit *hit, struct pt_regs *ctx, __u64 cookie)
{
	hit->row = UB_COOKIE_SITE(cookie);
	hit->slot = UB_COOKIE_LAYOUT(cookie);
	hit->wrappers = UB_COOKIE_WRAPPERS(cookie);
	hit->sp = PT_REGS_SP(ctx) + UB_COOKIE_SP_WORDS(cookie) * 8;
}

static __always_inline bool hit_begin(struct hit *hit, struct pt_regs *ctx)
{
	__u64 cookie = attach_cookie(ctx);
	__u32 row = UB_COOKIE_SITE(cookie);

	hit->task = task_state();
	if (unlikely(!hit->task))
		return false;
	hit->site = bpf_map_lookup_elem(&sites, &row);
	if (unlikely(!hit->site))
		return false;
	hit->task->hits[ub_group(hit->site->kind)]++;
	if (unlikely(stopped >= QUIET_FROM || quiet_groups >> ub_group(hit->site->kind) & 1))
		return false;
	hit->task->outbox.hits++;
	hit_place(hit, ctx, cookie);
	hit->function = PT_REGS_IP(ctx) - UB_COOKIE_DELTA(cookie);
	hit->ts = bpf_ktime_get_ns();
	return true;
}

static __always_inline const struct ub_layout *layout_at(__u8 slot)
{
	__u32 row = slot;

	return bpf_map_lookup_elem(&layouts, &row);
}

#define LAST_ARG 12 /* no function in the table has more */

/* Arguments in registers, and on the stack for sites whose highest argument is one. */
static __always_inline void read_args(__u64 *args, struct pt_regs *ctx, const struct hit *hit)
{
	args[0] = 0;
	args[1] = PT_REGS_PARM1(ctx);
	args[2] = PT_REGS_PARM2(ctx);
	args[3] = PT_REGS_PARM3(ctx);
	args[4] = PT_REGS_PARM4(ctx);
	args[5] = PT_REGS_PARM5(ctx);
	args[6] = PT_REGS_PARM6(ctx);
#if ARG_REGISTERS == 8
	args[7] = PT_REGS_PARM7(ctx);
	args[8] = PT_REGS_PARM8(ctx);
#endif
	if (unlikely(hit->site->last_arg > ARG_REGISTERS))
		bpf_probe_read_user(&args[ARG_REGISTERS + 1],
				    (LAST_ARG - ARG_REGISTERS) * sizeof(__u64),
				    (void *)(hit->sp + STACK_ARGS));
}

#endif
