/* SPDX-License-Identifier: BSD-3-Clause */
/* The length of MPI_Init if its return is not recorded. */
#ifndef UCXBPF_EXPLAIN_SILENT_INIT_H
#define UCXBPF_EXPLAIN_SILENT_INIT_H

#include <string.h>

#include "explain/facts/facts.h"

/*
 * Nothing is recorded inside MPI_Init, so that the lower bound of its length is 0. Its length is
 * shown as the time until its thread's next call, an upper bound.
 */
static inline bool fact_is_silent_init(const struct fact_call *call)
{
	return call->end_precision == TIME_LOWER_BOUND && call->end == call->start &&
	       call->until > call->start && call->function &&
	       (!strcmp(call->function, "MPI_Init") || !strcmp(call->function, "MPI_Init_thread"));
}

#endif
