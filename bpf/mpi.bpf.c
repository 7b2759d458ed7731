/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* MPI calls: entry only. Return probes there break programs that switch stacks inside the call. */
#include "context.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("uprobe")
int call_entry(struct pt_regs *ctx)
{
	struct hit hit;
	struct frame *frame;

	if (!hit_begin(&hit, ctx))
		return 0;
	hit_args(&hit, ctx);
	hit_stack_args(&hit, hit.site->arg_comm);
	frame = frame_push(&hit, UB_CALL, false);
	if (!frame)
		return 0;
	frame->call.ret_addr = frame->ret;
	frame->call.comm = arg(&hit, hit.site->arg_comm);
	emit(&frame->call);
	return 0;
}
