/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* The tables that user space hands to the programs that walk stacks (stack.bpf.h). */
#ifndef UCXBPF_ROWS_H
#define UCXBPF_ROWS_H

#include "ucxbpf.h"

/*
 * Unwinding rows (x86-64): from link-time address pc up to the next row's, the frame's base (CFA,
 * the caller's %rsp) is %rsp or %rbp + CFA bytes, the return address lies right below it, and %rbp
 * was saved BP words below it, 0 = it was not. BP from UB_ROW_STOP on: the walk ends here, the
 * difference is enum ub_stack_end. In a realigned stack the base is in the word CFA bytes below
 * %rbp, and %rbp was saved where it points to.
 */
struct ub_row {
	__u32 pc;
	__u32 rule;
};

#define UB_ROW_STOP 240
enum ub_row_mode { UB_ROW_RSP, UB_ROW_RBP, UB_ROW_REALIGNED };
#define UB_ROW_MAX_CFA ((1u << 22) - 1) /* words */
#define UB_ROW(cfa_words, mode, bp) ((__u32)(cfa_words) << 10 | (__u32)(mode) << 8 | (__u32)(bp))
#define UB_ROW_CFA(rule) ((__u64)((rule) >> 10) * 8)
#define UB_ROW_MODE(rule) ((rule) >> 8 & 3)
#define UB_ROW_BP(rule) ((rule)&0xff)

/* An executable mapping of a process; in order of address, then UB_NO_RANGE as the start. */
#define UB_NO_RANGE (~0ull >> 1)
struct ub_range {
	__u64 start, end;
	__u64 bias; /* from link-time addresses to addresses */
	__u32 first, count; /* its rows; count 0: first is an enum ub_stack_end */
};

#define UB_MAX_RANGES 512
struct ub_process_ranges {
	struct ub_range range[UB_MAX_RANGES];
};

#endif
