/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Children of traced processes are traced from their first instruction; the dead are forgotten. */
#include "emit.bpf.h"
#include "iter.bpf.h"
#include "memory.bpf.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* A process comes or goes: that is not the business of one task's outbox. */
static __always_inline void emit_task(struct task_struct *p, __u32 what, __u32 other)
{
	struct {
		struct ub_batch head;
		struct ub_task task;
	} batch = {};
	struct ub_task *task = &batch.task;

	if (stopped == UB_STOP)
		return;
	task->h.ts = bpf_ktime_get_ns();
	task->h.tgid = p->tgid;
	task->h.tid = what == UB_THREAD_EXIT ? p->pid : p->tgid;
	task->h.kind = UB_TASK;
	task->what = what;
	task->other = other;
	task->start_time = p->group_leader->start_boottime;
	bpf_probe_read_kernel_str(task->comm, sizeof(task->comm), p->comm);
	emit_alone(&batch.head, sizeof(batch), UB_TASK);
}

/*
 * Sends records and losses that a task still holds; it may end while this runs from outside. False:
 * there were none, or another visitor is at work.
 */
static __always_inline bool send_rest(struct outbox *box)
{
	if ((!box->bytes && !box->lost) || !outbox_take(box))
		return false;
	outbox_flush(box, bpf_ktime_get_ns());
	if (box->lost && box->closed) {
		box->closed = 0;
		outbox_flush(box, bpf_ktime_get_ns());
	}
	outbox_give_back(box);
	return true;
}

static __always_inline bool traced(__u32 tgid)
{
	return bpf_map_lookup_elem(&processes, &tgid) != NULL;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(task_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 tgid = child->tgid, one = 1;

	if (child->pid != child->tgid || !traced(parent->tgid))
		return 0;
	bpf_map_update_elem(&processes, &tgid, &one, BPF_ANY);
	emit_task(parent, UB_FORK, tgid);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(task_exec, struct task_struct *p, __u32 old_pid, struct linux_binprm *bprm)
{
	struct task_state *state;
	__u32 tgid = p->tgid;

	if (!traced(tgid))
		return 0;
	bpf_map_delete_elem(&caller_ranges, &tgid);
	state = bpf_task_storage_get(&tasks, p, NULL, 0);
	if (state) {
		/* while the outbox still names the program's old address space */
		send_rest(&state->outbox);
		state->depth = 0;
		state->with_op_open = 0;
		state->trampoline = 0;
		state->reading.sk = 0;
		state->filter.generation = 0; /* the thread may have a new id by now */
	}
	emit_task(p, UB_EXEC, old_pid);
	return 0;
}

#define SIGNAL_GROUP_EXIT 0x4 /* kernel, include/linux/sched/signal.h */

/* The last thread's own code is the process's only where all threads ended together. */
static __always_inline __u32 how_it_ended(struct task_struct *p)
{
	struct signal_struct *signal = p->signal;
	int code = signal->flags & SIGNAL_GROUP_EXIT ? signal->group_exit_code
						     : p->group_leader->exit_code;

	return UB_EXIT_TOLD | (code & 0xffff);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(task_exit, struct task_struct *p)
{
	struct task_state *state = bpf_task_storage_get(&tasks, p, NULL, 0);
	__u32 tgid = p->tgid;

	if (state)
		send_rest(&state->outbox);
	if (!traced(tgid))
		return 0;
	if (p->signal->live.counter) {
		/* its number may be reused, and a GPU library's state for the thread is over */
		if (bpf_task_storage_get(&memory_tasks, p, NULL, 0))
			emit_task(p, UB_THREAD_EXIT, 0);
		return 0;
	}
	bpf_map_delete_elem(&processes, &tgid);
	bpf_map_delete_elem(&caller_ranges, &tgid);
	emit_task(p, UB_EXIT, how_it_ended(p));
	return 0;
}

/*
 * Runs while no hot probe is in place: sends records that tasks still hold. Its reader gets a byte
 * for each task that had some, and reads no more of them at once than the ring has room for.
 */
SEC("iter/task")
int task_rest(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct task_state *state = p ? bpf_task_storage_get(&tasks, p, NULL, 0) : NULL;
	char sent = 1;

	if (state && send_rest(&state->outbox))
		bpf_seq_write(ctx->meta->seq, &sent, sizeof(sent));
	return 0;
}

/* Runs while the job goes on: a snapshot of counts, each of them consistent. */
SEC("iter/task")
int task_hits(struct bpf_iter__task *ctx)
{
	struct task_struct *p = ctx->task;
	struct task_state *state = p ? bpf_task_storage_get(&tasks, p, NULL, 0) : NULL;
	struct ub_task_hits hits;

	if (!state)
		return 0;
	hits.tgid = p->tgid;
	hits.tid = p->pid;
	__builtin_memcpy(hits.hits, state->hits, sizeof(hits.hits));
	__builtin_memcpy(hits.returns, state->returns, sizeof(hits.returns));
	bpf_seq_write(ctx->meta->seq, &hits, sizeof(hits));
	return 0;
}
