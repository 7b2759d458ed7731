// SPDX-License-Identifier: BSD-3-Clause
/* PERF-01, PERF-02: what pairs reached of a metric, both directions and all lanes together. */
#include "site/judge/rules/slow.h"

static int group_of(const struct plan *plan, int a, int b)
{
	int one = plan->nodes.data[a].class, other = plan->nodes.data[b].class;
	int low = one < other ? one : other, high = one < other ? other : one;

	return ((plan_distance(plan, a, b) + 1) * (int)plan->classes.len + low) *
		       (int)plan->classes.len +
	       high;
}

struct sum_of_pair {
	double ns;
	uint32_t count;
};

struct sums_of_pairs {
	VEC(struct sum_of_pair) list;
	struct map index; /* (pair, round) -> 1 + position */
};

static void add_transfer(struct sums_of_pairs *sums, const struct sweep_transfer *transfer)
{
	uint64_t low = transfer->src < transfer->dst ? transfer->src : transfer->dst;
	uint64_t high = transfer->src < transfer->dst ? transfer->dst : transfer->src;
	uint64_t *at = map_insert(&sums->index, low << 32 | high, transfer->round, NULL);

	if (!*at) {
		vec_add(&sums->list);
		*at = sums->list.len;
	}
	sums->list.data[*at - 1].ns += transfer->p50;
	sums->list.data[*at - 1].count++;
}

/* A pair of which some transfer is missing has no value. */
static void make_values(const struct trial *trial, enum plan_stage_kind stage,
			const struct metric *metric, struct outliers *outliers)
{
	const struct sweep *sweep = &trial->judge->sweep;
	const struct plan *plan = sweep->plan;
	struct sums_of_pairs sums = { 0 };
	struct map_slot *slot;

	for (size_t i = 0; i < sweep->transfers.len; i++) {
		const struct sweep_transfer *transfer = &sweep->transfers.data[i];

		if (transfer->stage == stage && transfer->dst >= 0 &&
		    metric_times(trial, metric, transfer))
			add_transfer(&sums, transfer);
	}
	for (size_t pos = 0; (slot = map_next(&sums.index, &pos));) {
		const struct sum_of_pair *sum = &sums.list.data[slot->value - 1];
		int a = slot->a >> 32, b = (uint32_t)slot->a;

		if (sum->count == 2 * (uint32_t)plan_lanes(plan, a, b))
			vec_push(&outliers->values,
				 ((struct outlier_value){ .a = a,
							  .b = b,
							  .group = group_of(plan, a, b),
							  .round = slot->b,
							  .value = sum->count / sum->ns }));
	}
	vec_release(&sums.list);
	map_release(&sums.index);
}

void slow_values_make(struct slow_values *values, const struct trial *trial,
		      const struct metric *metric)
{
	const struct plan *plan = trial->judge->sweep.plan;
	const struct policy_rule *rule =
		policy_rule(trial->judge->policy, catalogue_find("PERF-01"));

	/* of a node in one round alone, every third sweep would have a false alarm */
	*values = (struct slow_values){
		.metric = metric,
		.limits = { rule->number[0], rule->number[1], JUDGE_LEAST_ROUNDS },
	};
	for (size_t i = 0; i < plan->nodes.len; i++)
		vec_push(&values->first.nodes,
			 ((struct outlier_node){ .class = plan->nodes.data[i].class }));
	make_values(trial, STAGE_TIME, metric, &values->first);
	make_values(trial, STAGE_CONFIRM, metric, &values->again);
	outliers_nodes(&values->first, &values->limits);
}

void slow_values_release(struct slow_values *values)
{
	outliers_release(&values->first);
	outliers_release(&values->again);
}
