/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Children of traced processes are traced from their first instruction; the dead are forgotten. */
#include "emit.bpf.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline void emit_task(struct task_struct *p, __u32 what, __u32 other)
{
	struct ub_task task = {};

	task.h.ts = bpf_ktime_get_ns();
	task.h.tgid = p->tgid;
	task.h.tid = p->tgid;
	task.h.kind = UB_TASK;
	task.what = what;
	task.other = other;
	task.start_time = p->group_leader->start_boottime;
	bpf_probe_read_kernel_str(task.comm, sizeof(task.comm), p->comm);
	emit(&task);
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

	if (!traced(p->tgid))
		return 0;
	state = bpf_task_storage_get(&tasks, p, NULL, 0);
	if (state)
		state->depth = 0;
	emit_task(p, UB_EXEC, old_pid);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(task_exit, struct task_struct *p)
{
	__u32 tgid = p->tgid;

	if (p->signal->live.counter || !traced(tgid))
		return 0;
	bpf_map_delete_elem(&processes, &tgid);
	emit_task(p, UB_EXIT, 0);
	return 0;
}
