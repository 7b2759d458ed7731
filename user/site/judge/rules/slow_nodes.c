// SPDX-License-Identifier: BSD-3-Clause
/* PERF-01: nodes that are slower than those of their class. */
#include <math.h>

#include "site/judge/rules/slow.h"

/* Metrics that it is slow in count before others, worse before less so. */
static void keep_worst(struct slowness *worst, const struct slowness *own)
{
	bool real = own->slow && !own->refuted, worse = worst->slow && !worst->refuted;

	if (!worst->known || real > worse || (real == worse && own->off > worst->off))
		*worst = *own;
}

static void judge_metric(const struct trial *trial, const struct metric *metric,
			 struct slowness *worst)
{
	struct slow_values values;

	slow_values_make(&values, trial, metric);
	for (size_t i = 0; i < values.first.nodes.len; i++) {
		const struct outlier_node *node = &values.first.nodes.data[i];
		struct slowness own = {
			.known = true,
			.slow = node->slow,
			.share = node->score / node->center,
			.off = node->off,
			.rounds = node->rounds,
			.metric = metric,
		};

		if (node->rounds < values.limits.rounds || isnan(node->center))
			continue;
		if (own.slow && slow_wants_confirmed(trial))
			slow_confirm_node(&values, i, &own);
		keep_worst(&worst[i], &own);
	}
	slow_values_release(&values);
}

/* A node of the class that has no times is in doubt; where none has, the plan is too small. */
static void say_nodes(const struct trial *trial, const struct slowness *worst)
{
	const struct plan *plan = trial->judge->sweep.plan;
	size_t known = 0;

	for (size_t i = 0; i < plan->nodes.len; i++)
		known += worst[i].known;
	if (!known) {
		found_nothing(trial, VERDICT_SKIP,
			      "it takes three nodes of a class that met others in three rounds");
		return;
	}
	for (size_t i = 0; i < plan->nodes.len; i++) {
		const char *name = plan->nodes.data[i].name;

		if (worst[i].known)
			slow_say(trial, name, &worst[i]);
		else if (!node_untold(trial, i))
			found_why(trial, VERDICT_UNKNOWN, name, "times of fewer than three rounds");
	}
}

void rule_slow_nodes(const struct trial *trial)
{
	const struct plan *plan = trial->judge->sweep.plan;
	struct metrics metrics = { 0 };
	struct slowness *worst;

	if (nothing_told(trial))
		return;
	worst = calloc(plan->nodes.len, sizeof(*worst));
	metrics_find(plan, &metrics);
	for (size_t i = 0; i < metrics.list.len; i++)
		judge_metric(trial, &metrics.list.data[i], worst);
	say_nodes(trial, worst);
	vec_release(&metrics.list);
	free(worst);
}
