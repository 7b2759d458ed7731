/* SPDX-License-Identifier: BSD-3-Clause */
/* Two processes of one host that are connected both ways. */
#ifndef TESTS_UNIT_MATCH_PAIR_H
#define TESTS_UNIT_MATCH_PAIR_H

#include "match_outcome.h"

struct pair {
	struct job job;
	struct task a, b;
	struct job *jobs[1];
	struct outcome out;
};

static inline void pair_init(struct pair *pair, const char *seen_from)
{
	job_init(&pair->job, "host-a", seen_from[0] == 's' ? "run" : "attach");
	pair->jobs[0] = &pair->job;
	pair->a = job_process(&pair->job, 1, 0, seen_from);
	pair->b = job_process(&pair->job, 2, 1, seen_from);
	job_worker(&pair->a);
	job_worker(&pair->b);
	job_connect(&pair->a, &pair->b);
	job_connect(&pair->b, &pair->a);
}

static inline void pair_analyse(struct pair *pair)
{
	analyse(&pair->out, pair->jobs, 1);
}

static inline void pair_release(struct pair *pair)
{
	outcome_release(&pair->out);
	job_release(&pair->job);
}

#endif
