/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * A program's variables stay with the task that runs it. Since Linux 6.13 the x86 JIT gives a
 * kprobe-type program a stack per CPU instead of the task's (kernel/bpf/verifier.c,
 * bpf_enable_priv_stack()). A uprobe's program may be preempted, and a sleepable one waits, so that
 * another task's hit on that CPU writes over the variables: a pointer checked by the verifier is
 * then anything. A program that could make a tail call keeps the task's stack.
 */
#ifndef UCXBPF_OWN_STACK_BPF_H
#define UCXBPF_OWN_STACK_BPF_H

#include "emit.bpf.h"

/* Never set: the verifier takes the call out again, once it has been seen. */
const volatile bool tail_calls __weak = false;

/* To be called by each program that a uprobe runs; scripts/check-stacks looks for it. */
static __always_inline void own_stack(struct pt_regs *ctx)
{
	if (tail_calls)
		bpf_tail_call(ctx, NULL, 0);
}

#endif
