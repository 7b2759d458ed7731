/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stack of a thread, frame by frame, from its registers (registers.h) and the .eh_frame of its
 * files. The walk is that of the kernel's half (bpf/stack_walk.bpf.h), for a few stacks and without
 * tables made ahead.
 */
#ifndef UCXBPF_PROCESS_FRAMES_H
#define UCXBPF_PROCESS_FRAMES_H

#include "base/vec.h"
#include "observe/process/code.h"
#include "observe/process/registers.h"
#include "observe/process/unwind.h"

struct stack_frame {
	uint64_t pc; /* innermost frame: the program counter; other frames: the return address */
	uint64_t base; /* the caller's %rsp; 0: the walk ended here */
};

typedef VEC(struct stack_frame) frame_list;

/* Unwinding information by file number, opened once; zeroed at first, but for the deadline. */
struct unwinds {
	VEC(struct unwind *) all; /* NULL: not opened, or none */
	VEC(bool) looked;
	uint64_t deadline; /* (deadline.h) of walks, which may end in UB_STACK_NOT_YET */
};

void unwinds_release(struct unwinds *unwinds);

/*
 * Replaces frames by those of a thread whose registers are known. ranges: its process's code.
 * Returns why the walk ended; UB_STACK_UNREADABLE also if %rbp is needed and unknown, or a frame
 * lies beyond the known part of a running thread's stack. Frames of a thread that was asleep are
 * right if it is thread_unmoved() afterwards.
 */
enum ub_stack_end frames_walk(frame_list *frames, const struct thread_registers *thread,
			      const code_ranges *ranges, struct unwinds *unwinds);

#endif
