/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* A part of ucxbpf.h: how programs get from an operation to the MPI call that made it. */
#ifndef UCXBPF_CALLERS_H
#define UCXBPF_CALLERS_H

enum ub_caller_what {
	UB_CALLER_INNER = 1, /* in none of MPI's API functions */
	UB_CALLER_CALL = 2, /* in one that makes one operation a call (ub_site.derivable) */
	UB_CALLER_OTHER = 3, /* in any other one, or a frame without a rule for its caller's */
};

/* Code of an MPI library from link-time address pc up to the next one's: see struct ub_row. */
struct ub_caller {
	__u32 pc;
	__u32 rule; /* UB_ROW() of its frame */
	__u16 row; /* calls: of the site table */
	__u8 number; /* calls: ub_site.derivable */
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

/*
 * Per-CPU counters, one set for each number of ub_site.derivable: calls of an MPI function, or
 * short sends.
 */
struct ub_derived {
	__u64 seen; /* calls, transfers by their probe */
	/* while a check is made */
	__u64 checked; /* operations that imply the call or transfer that was seen */
	__u64 differing; /* operations that imply another one */
	__u64 without; /* calls without an operation, transfers implied by none */
	/* while its probe is removed */
	__u64 derived; /* calls, transfers */
	__u64 unproven; /* operations that may have sent something unknown */
};

/* An endpoint on which short sends wait that found no resources. */
struct ub_waiting {
	__u64 uct_ep;
	__u32 tgid;
	__u32 zero;
};

#define UB_DERIVABLES 16 /* numbers, from 1; power of two */
#define UB_UNPROBED 14 /* OpenSHMEM's puts, gets, atomics: no probe where calls are derived */
#define UB_SHORT_SENDS 15 /* am_short of all transports, but for loopback */
#define UB_SHORTS (1u << UB_SHORT_SENDS)

_Static_assert(sizeof(struct ub_caller) == 16, "caller size");
_Static_assert(sizeof(struct ub_derived) == 48, "counters of derived calls");

#endif
