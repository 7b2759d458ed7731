// SPDX-License-Identifier: BSD-3-Clause
/* PERF-02: pairs of nodes that are slower than their nodes are with others. */
#include "site/judge/rules/slow.h"

#define ONE_WAY 2 /* times as long as the other way: that is the slow one */

/* Median of what messages from one to the other take; NAN: none was timed. */
static double one_way(const struct trial *trial, const struct metric *metric, int src, int dst)
{
	const struct sweep *sweep = &trial->judge->sweep;
	struct numbers numbers = { 0 };

	for (size_t i = 0; i < sweep->transfers.len; i++) {
		const struct sweep_transfer *transfer = &sweep->transfers.data[i];

		if (transfer->stage == STAGE_TIME && transfer->src == src && transfer->dst == dst &&
		    metric_times(trial, metric, transfer))
			vec_push(&numbers.list, transfer->p50);
	}
	return median_and_release(&numbers);
}

/* NULL: both ways are as slow. */
static const char *slow_way(const struct trial *trial, const struct metric *metric, int a, int b)
{
	const struct plan *plan = trial->judge->sweep.plan;
	double forth = one_way(trial, metric, a, b), back = one_way(trial, metric, b, a);
	const char *one = plan->nodes.data[forth > back ? a : b].name;
	const char *other = plan->nodes.data[forth > back ? b : a].name;
	double times = forth > back ? forth / back : back / forth;

	return times >= ONE_WAY ? say(trial->judge, "%s>%s takes %.1f times as long as %s>%s", one,
				      other, times, other, one)
				: NULL;
}

static void judge_pair(const struct trial *trial, const struct slow_values *values,
		       const struct outlier_pair *pair)
{
	const struct plan *plan = trial->judge->sweep.plan;
	struct slowness slowness = {
		.known = true,
		.slow = true,
		.share = pair->score / pair->center,
		.off = pair->off,
		.rounds = pair->rounds,
		.metric = values->metric,
	};

	if (slow_wants_confirmed(trial))
		slow_confirm_pair(values, pair, &slowness);
	if (slowness.refuted)
		return;
	slow_say(trial,
		 say(trial->judge, "%s<>%s", plan->nodes.data[pair->a].name,
		     plan->nodes.data[pair->b].name),
		 &slowness)
		->cause = slow_way(trial, values->metric, pair->a, pair->b);
}

/* Returns of how many pairs the metric tells anything. */
static size_t judge_metric(const struct trial *trial, const struct metric *metric)
{
	struct outlier_limits limits;
	struct slow_values values;
	size_t judged;

	slow_values_make(&values, trial, metric);
	limits = values.limits;
	limits.rounds = trial->setting->number[0];
	outliers_pairs(&values.first, &limits);
	judged = values.first.pairs.len;
	for (size_t i = 0; i < judged; i++)
		if (values.first.pairs.data[i].slow)
			judge_pair(trial, &values, &values.first.pairs.data[i]);
	slow_values_release(&values);
	return judged;
}

/* Of pairs in order one finding says it: there are very many of them. */
void rule_slow_pairs(const struct trial *trial)
{
	struct metrics metrics = { 0 };
	size_t before, judged = 0;

	if (nothing_told(trial))
		return;
	before = trial->judge->findings.len;
	metrics_find(trial->judge->sweep.plan, &metrics);
	for (size_t i = 0; i < metrics.list.len; i++)
		judged += judge_metric(trial, &metrics.list.data[i]);
	vec_release(&metrics.list);
	if (!judged)
		found_nothing(trial, VERDICT_SKIP,
			      "no three pairs met often enough (variant all-pairs:3)");
	else if (before == trial->judge->findings.len)
		found(trial, VERDICT_PASS, "all pairs")->count = judged;
}
