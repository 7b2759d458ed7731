/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of a sweep's equal transfers: same memory and size, same classes, same distance. */
#ifndef UCXBPF_JUDGE_AGGREGATES_TIMES_H
#define UCXBPF_JUDGE_AGGREGATES_TIMES_H

#include "site/judge/aggregates/sweep.h"
#include "site/judge/statistics/statistics.h"
#include "site/policy/policy.h"

enum quantile { P25, P50, P75, P99, QUANTILES };

struct cohort {
	bool intra; /* within a node */
	enum plan_memory src_mem, dst_mem;
	int classes[2]; /* of the plan, the lower one first */
	int distance; /* plan_distance() */
	uint64_t size;
	uint32_t timed; /* messages of each transfer */
	struct numbers ns[QUANTILES]; /* of each transfer */
	double median[QUANTILES]; /* of these */
};

struct times {
	VEC(struct cohort) cohorts; /* those that differ only in size are adjacent, ascending */
};

/* Times of the stages intra and time; all: also of nodes whose times are unusable. */
void times_make(struct times *times, const struct sweep *sweep, bool all);
void times_release(struct times *times);

/* Whether they differ in size only. */
bool cohort_alike(const struct cohort *a, const struct cohort *b);

/* "inter.host-host.same_switch", with the classes where there are several; the caller frees it. */
char *cohort_name(const struct cohort *cohort, const struct plan *plan,
		  const struct policy *policy);

/* "same_switch", "other_group": how far that is by the policy's levels; "" unknown. */
void distance_name(const struct policy *policy, int distance, char name[64]);

#endif
