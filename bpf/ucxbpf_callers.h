/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* A part of ucxbpf.h: how programs get from an operation to the MPI call that made it. */
#ifndef UCXBPF_CALLERS_H
#define UCXBPF_CALLERS_H

enum ub_caller_what {
	UB_CALLER_INNER = 1, /* in none of MPI's API functions */
	UB_CALLER_CALL = 2, /* in one that makes one operation a call (ub_site.one_op) */
	UB_CALLER_OTHER = 3, /* in any other one, or a frame without a rule for its caller's */
};

/* Code of an MPI library from link-time address pc up to the next one's: see struct ub_row. */
struct ub_caller {
	__u32 pc;
	__u32 rule; /* UB_ROW() of its frame */
	__u16 row; /* calls: of the site table */
	__u8 number; /* calls: ub_site.one_op */
	__u8 what; /* enum ub_caller_what */
	__u32 pad; /* elements of an array map are multiples of 8 bytes */
};

/* Where a process maps MPI libraries; count 0: none. */
#define UB_CALLER_RANGES 8
struct ub_caller_range {
	__u64 start, end; /* addresses */
	__u64 bias; /* from link-time addresses to addresses */
	__u32 first, count; /* its rows of struct ub_caller */
};

struct ub_caller_ranges {
	struct ub_caller_range range[UB_CALLER_RANGES];
};

/* Per-CPU counters, one set for each function by ub_site.one_op. */
struct ub_derived {
	__u64 seen; /* calls by their probe */
	/* while a check is made */
	__u64 checked; /* operations whose stack led to the call that the probe had seen */
	__u64 differing; /* operations whose stack led elsewhere */
	__u64 without; /* calls that made no operation */
	/* while its probe is away */
	__u64 derived; /* calls */
	__u64 pad;
};

#define UB_ONE_OPS 16 /* numbers, from 1; power of two */

_Static_assert(sizeof(struct ub_caller) == 16, "caller size");
_Static_assert(sizeof(struct ub_derived) == 48, "counters of derived calls");

#endif
