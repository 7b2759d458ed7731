/* SPDX-License-Identifier: BSD-3-Clause */
/* Sweeps of six nodes, whose ledgers have the times that a test says. */
#ifndef UCXBPF_SWEEP_TIMES_H
#define UCXBPF_SWEEP_TIMES_H

#include "sweep_bed.h"

#define SIX SPEC "classes: { c: { nodes: 'n[0-5]', nic_rate: 100Gb/s } }\n"
#define LARGE (4 << 20)

static const struct plan_options often = {
	.variant = "all-pairs:3", .max_size = LARGE, .max_count = 100, .collective = true
};

/* 2 us, and 90 Gb/s; a byte of an alltoall crosses a link once for each of the others' ranks. */
static inline uint64_t usual(const struct plan *plan, const struct plan_step *step)
{
	uint64_t bytes = step->work->size;

	if (step->work->op == PLAN_ALLTOALL)
		bytes *= plan->ranks * plan->ranks * (plan->nodes.len - 1);
	return 2000 + bytes * 8 / 90;
}

static inline uint64_t all_alike(const struct plan *plan, const struct plan_stage *stage,
				 uint32_t round, const struct plan_step *step)
{
	(void)stage;
	(void)round;
	return usual(plan, step);
}

typedef uint64_t (*times_t)(const struct plan *plan, const struct plan_stage *stage, uint32_t round,
			    const struct plan_step *step);

static inline void run(struct sweep_bed *bed, const char *policy, times_t times)
{
	sweep_begin(bed, policy, &often);
	bed->time_of = times;
	sweep_run(bed, false);
}

#endif
