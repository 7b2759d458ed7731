// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/frames.h"

#include <string.h>

#include "base/deadline.h"
#include "observe/process/proc.h"

#define MAX_FRAMES 256

void unwinds_release(struct unwinds *unwinds)
{
	for (size_t i = 0; i < unwinds->all.len; i++)
		unwind_close(unwinds->all.data[i]);
	vec_release(&unwinds->all);
	vec_release(&unwinds->looked);
}

/* NULL: the file has none, or cannot be read. */
static struct unwind *unwind_of(struct unwinds *unwinds, pid_t pid, const struct code_range *range)
{
	const size_t number = (size_t)range->file->number;
	const struct elf *elf;

	while (unwinds->all.len <= number) {
		vec_push(&unwinds->all, NULL);
		vec_push(&unwinds->looked, false);
	}
	if (!unwinds->looked.data[number]) {
		unwinds->looked.data[number] = true;
		elf = code_file_elf(pid, range);
		if (elf && unwind_open(&unwinds->all.data[number], elf))
			unwinds->all.data[number] = NULL;
	}
	return unwinds->all.data[number];
}

struct frame_walk {
	const struct thread_registers *thread;
	uint64_t pc, sp, bp;
	bool bp_known;
};

/*
 * Reads from the copy that was made with the registers: the memory of a running thread has changed
 * since.
 */
static bool read_word(const struct frame_walk *walk, uint64_t at, uint64_t *value)
{
	const struct thread_registers *thread = walk->thread;
	const uint64_t offset = at - thread->sp;

	/* the registers are the target's, and may be anything */
	if (at >= thread->sp && thread->stack.len >= sizeof(*value) &&
	    offset <= thread->stack.len - sizeof(*value)) {
		memcpy(value, thread->stack.data + offset, sizeof(*value));
		return true;
	}
	return thread->asleep &&
	       proc_read_memory(thread->pid, at, value, sizeof(*value)) == sizeof(*value);
}

/* The row's rule for the code around pc; the call, not what follows it, lies in the function. */
static uint32_t rule_at(const struct frame_walk *walk, bool innermost, const code_ranges *ranges,
			struct unwinds *unwinds)
{
	const uint64_t pc = innermost ? walk->pc : walk->pc - 1;
	const struct code_range *range = code_find(ranges, pc);
	struct unwind *unwind;

	if (!range || !range->file)
		return UB_ROW(0, UB_ROW_RSP, UB_ROW_STOP + UB_STACK_NO_MODULE);
	unwind = unwind_of(unwinds, walk->thread->pid, range);
	if (!unwind)
		return UB_ROW(0, UB_ROW_RSP, UB_ROW_STOP + UB_STACK_NO_ROWS);
	return unwind_rule(unwind, code_vaddr(range, pc));
}

/* The frame's base; 0: not readable. */
static uint64_t base_of(const struct frame_walk *walk, uint32_t rule)
{
	uint64_t base;

	if (UB_ROW_MODE(rule) == UB_ROW_RSP)
		return walk->sp + UB_ROW_CFA(rule);
	if (!walk->bp_known)
		return 0;
	if (UB_ROW_MODE(rule) == UB_ROW_RBP)
		return walk->bp + UB_ROW_CFA(rule);
	return read_word(walk, walk->bp - UB_ROW_CFA(rule), &base) ? base : 0;
}

/* Goes to the caller's frame; 0: done. */
static enum ub_stack_end step(struct frame_walk *walk, uint32_t rule, struct stack_frame *frame)
{
	const uint32_t saved = UB_ROW_BP(rule);
	uint64_t base;

	if (saved >= UB_ROW_STOP)
		return saved - UB_ROW_STOP;
	base = base_of(walk, rule);
	if (!base)
		return UB_STACK_UNREADABLE;
	if (base <= walk->sp)
		return UB_STACK_LOST;
	if (saved || UB_ROW_MODE(rule) == UB_ROW_REALIGNED) {
		const uint64_t at = saved ? base - saved * 8 : walk->bp;

		walk->bp_known = read_word(walk, at, &walk->bp);
		/* in an epilogue it may have been popped already, and the copy begins at %rsp */
		if (!walk->bp_known && at >= walk->sp)
			return UB_STACK_UNREADABLE;
	}
	if (!read_word(walk, base - 8, &walk->pc))
		return UB_STACK_UNREADABLE;
	walk->sp = frame->base = base;
	return 0;
}

enum ub_stack_end frames_walk(frame_list *frames, const struct thread_registers *thread,
			      const code_ranges *ranges, struct unwinds *unwinds)
{
	struct frame_walk walk = { thread, thread->pc, thread->sp, thread->bp, thread->bp_known };
	enum ub_stack_end end = 0;

	frames->len = 0;
	while (!end && frames->len < MAX_FRAMES) {
		struct stack_frame *frame = vec_add(frames);

		frame->pc = walk.pc;
		if (deadline_over(unwinds->deadline))
			end = UB_STACK_NOT_YET;
		else
			end = step(&walk, rule_at(&walk, frames->len == 1, ranges, unwinds), frame);
	}
	return end ? end : UB_STACK_DEEP;
}
