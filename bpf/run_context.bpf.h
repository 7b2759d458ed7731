/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Who runs this program, and for which probe. A helper costs 10 ns or more where function returns
 * are expensive, so what the kernel keeps of a run on a multi or session link is read directly
 * (kernel/trace/bpf_trace.c: uprobe_prog_run(), Linux 6.6 to 6.18). Kernels that keep it otherwise,
 * perf_event links, and object files without HOT_OBJECT have the helpers.
 */
#ifndef UCXBPF_RUN_CONTEXT_BPF_H
#define UCXBPF_RUN_CONTEXT_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* The task does not change while a program runs: the compiler may ask once. */
#ifndef current_task
static struct task_struct *(*const current_task)(void)__attribute__((const, unused)) = (void *)
	BPF_FUNC_get_current_task_btf;
#endif

#ifdef HOT_OBJECT

struct task_struct___run {
	void *bpf_ctx;
} __attribute__((preserve_access_index));

struct bpf_session_run_ctx___ub {
	bool is_return;
} __attribute__((preserve_access_index));

struct bpf_uprobe___ub {
	__u64 cookie;
} __attribute__((preserve_access_index));

struct bpf_uprobe_multi_run_ctx___ub {
	struct bpf_session_run_ctx___ub session_ctx;
	struct bpf_uprobe___ub *uprobe;
} __attribute__((preserve_access_index));

/* Written by user space before loading: the programs will be on multi or session links. */
const volatile bool multi_links = false;

/* bpftool's linker takes a kernel function from one object file only. */
extern void *bpf_rdonly_cast(const void *pointer, __u32 type) __ksym __weak;

static __always_inline struct bpf_uprobe_multi_run_ctx___ub *run_context(struct task_struct *task)
{
	struct task_struct___run *run = (void *)task;

	return bpf_rdonly_cast(run->bpf_ctx,
			       bpf_core_type_id_kernel(struct bpf_uprobe_multi_run_ctx___ub));
}

/* The verifier knows the answer, and drops the other branch. */
#define RUN_CONTEXT_HAS(field)                                                                     \
	(multi_links && bpf_ksym_exists(bpf_rdonly_cast) &&                                        \
	 bpf_core_field_exists(struct task_struct___run, bpf_ctx) &&                               \
	 bpf_core_field_exists(struct bpf_uprobe_multi_run_ctx___ub, field) &&                     \
	 bpf_core_field_exists(struct bpf_uprobe___ub, cookie))

#endif

static __always_inline __u64 attach_cookie(struct pt_regs *ctx)
{
#ifdef HOT_OBJECT
	/* outside the branch, so that those who ask later need not */
	struct task_struct *task = current_task();

	if (RUN_CONTEXT_HAS(uprobe))
		return run_context(task)->uprobe->cookie;
#endif
	return bpf_get_attach_cookie(ctx);
}

/*
 * Whether a session program runs at its function's return. The address that the kernel has of the
 * probed instruction is where the program counter is at the entry, and no function returns there
 * (uprobe_multi_link_handler(), uprobe_multi_link_ret_handler(); 6.13).
 */
static __always_inline bool at_return(struct pt_regs *ctx)
{
#ifdef HOT_OBJECT
	/* outside the branch, so that those who ask later need not */
	struct task_struct *task = current_task();

	if (RUN_CONTEXT_HAS(session_ctx) &&
	    bpf_core_field_exists(struct bpf_session_run_ctx___ub, is_return))
		return run_context(task)->session_ctx.is_return;
#endif
	return bpf_get_func_ip(ctx) != PT_REGS_IP(ctx);
}

#endif
