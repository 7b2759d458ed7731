/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What PERF-01 and PERF-02 share: the values that pairs of nodes reached, by metric; whether one
 * that is slow by them (judge/statistics/outliers.h) was slow again; how it is said.
 */
#ifndef UCXBPF_JUDGE_RULES_SLOW_H
#define UCXBPF_JUDGE_RULES_SLOW_H

#include "site/judge/rules/rules.h"
#include "site/judge/statistics/outliers.h"

/* Messages that are compared with each other alone: p2p, of this size, between such memory. */
struct metric {
	enum plan_memory src_mem, dst_mem;
	uint64_t size;
};

struct metrics {
	VEC(struct metric) list;
};

/* Of all sizes of the stage of times the ends, which tell latency and goodput. The caller releases
 * the list. */
void metrics_find(const struct plan *plan, struct metrics *metrics);

/* Whether a transfer is of the metric and has a time that tells something. */
bool metric_times(const struct trial *trial, const struct metric *metric,
		  const struct sweep_transfer *transfer);

/* What pairs reached of one metric: messages a ns, both directions and all lanes together. */
struct slow_values {
	const struct metric *metric;
	struct outlier_limits limits; /* of nodes: PERF-01's settings */
	struct outliers first; /* of the stage of times; its nodes are judged */
	struct outliers again; /* of the stage of confirmation; values alone */
};

/* The caller releases them. */
void slow_values_make(struct slow_values *values, const struct trial *trial,
		      const struct metric *metric);
void slow_values_release(struct slow_values *values);

/* What is said of a node or a pair by one metric. */
struct slowness {
	bool known, slow, confirmed, refuted;
	double share, off; /* of the median of those like it; spreads below that */
	size_t rounds, again; /* of the stage of times; of the confirmation */
	const struct metric *metric;
};

/* Whether the rule wants what is slow to be slow again, in the stage of confirmation. */
bool slow_wants_confirmed(const struct trial *trial);

/* Set again and, if these are enough rounds, confirmed or refuted. */
void slow_confirm_node(const struct slow_values *values, int node, struct slowness *slowness);
void slow_confirm_pair(const struct slow_values *values, const struct outlier_pair *pair,
		       struct slowness *slowness);

/* FAIL of what is slow and not refuted, else PASS. */
struct finding *slow_say(const struct trial *trial, const char *subject,
			 const struct slowness *slowness);

#endif
