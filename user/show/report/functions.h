/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of each MPI function, and its distribution over the processes that call it. */
#ifndef UCXBPF_REPORT_FUNCTIONS_H
#define UCXBPF_REPORT_FUNCTIONS_H

#include <stdbool.h>

#include "show/report/durations.h"

/* Times in ns; lower bounds where calls have no exact end. */
struct report_function {
	uint64_t name; /* interned */
	uint64_t calls, processes;
	uint64_t time;
	bool exact; /* all times are */
	uint32_t precisions; /* bit set of enum fact_precision */
	uint64_t least, most; /* of a process */
	int least_by, most_by;
	const struct spread *durations; /* of single calls, as far as exact; NULL: of none */
};

struct report_functions {
	VEC(struct report_function) rows; /* by most time */
};

/*
 * From the sums of calls, by process and function, and their durations by function, which must
 * outlive it. Functions without any call with a known time are left out.
 */
void report_functions_sum(struct report_functions *functions, const struct cube *calls,
			  const struct durations *durations);
void report_functions_release(struct report_functions *functions);

/* The highest time over the mean of the processes that call it: 1 is balanced. */
double report_function_imbalance(const struct report_function *function);

/* NULL: its time is not known. */
const struct report_function *report_function(const struct report_functions *functions,
					      uint64_t name);

#endif
