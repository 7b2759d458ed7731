/* SPDX-License-Identifier: BSD-3-Clause */
/* From a policy to a plan. */
#ifndef UCXBPF_PLAN_MAKE_H
#define UCXBPF_PLAN_MAKE_H

#include "site/plan/plan.h"
#include "site/policy/policy.h"

#define PLAN_SAMPLE 15 /* rounds of times, where there are so many */

/* Zero: as said. */
struct plan_options {
	const char *const *nodes; /* of these only; NULL: all nodes of the policy's classes */
	size_t node_count;
	/* "all-pairs:K" (K times), "sample:K", "topo:K", "custom:FILE", "cross-class"; NULL:
	 * sample:15 */
	const char *variant;
	uint64_t seed; /* 0: 1 */
	uint64_t max_size; /* bytes of the largest message; 0: 32 MiB */
	uint32_t max_count; /* of the same message in a row; 0: 200 */
	int ranks; /* per node; 0: one per GPU, two without GPUs */
	bool collective; /* with the confirming stage */
	uint32_t chunk; /* nodes of a part, at most; 0: not in parts */
};

/* -EINVAL: why names the fault in the policy, its topology or the options. */
int plan_make(const struct policy *policy, const struct plan_options *options, struct plan **plan,
	      char why[PLAN_WHY]);

enum plan_trust {
	PLAN_UNKNOWN, /* takes no part */
	PLAN_TRUSTED,
	PLAN_SUSPECT,
};

/* Two nodes, by position. */
struct plan_pair {
	int a, b;
};

struct plan_doubts {
	const enum plan_trust *trust; /* of each node */
	const struct plan_pair *pairs; /* suspected together, not individually */
	size_t pair_count;
};

/*
 * Adds the stage that confirms suspects: each of them meets trusted nodes in as many rounds, first
 * the ones that it did not meet in the stage of times. Both nodes of a suspected pair meet each
 * other again, and trusted nodes in rounds between. -EINVAL: why.
 */
int plan_confirm(struct plan *plan, const struct plan_doubts *doubts, uint32_t rounds,
		 char why[PLAN_WHY]);

#endif
