/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is behind, in captures that were gathered together: becomes sums (SUM_BEHIND). */
#ifndef UCXBPF_JUDGE_AGGREGATES_BEHIND_H
#define UCXBPF_JUDGE_AGGREGATES_BEHIND_H

#include "base/vec.h"
#include "explain/facts/facts.h"

struct aggregates;

/* A zeroed one is empty. */
struct behind {
	VEC(struct fact_open) open;
	VEC(struct fact_thread) threads;
};

/* All facts are in, and members are where facts have them. */
void behind_finish(struct aggregates *aggregates);
void behind_release(struct behind *behind);

#endif
