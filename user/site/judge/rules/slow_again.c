// SPDX-License-Identifier: BSD-3-Clause
/* PERF-01, PERF-02: whether what was slow in the stage of times is as slow in the confirmation. */
#include <math.h>

#include "site/judge/rules/slow.h"

/* What pairs like that reached in the stage of times, without suspects. */
static double usual_value(const struct outliers *first, int group)
{
	struct numbers numbers = { 0 };

	for (size_t i = 0; i < first->values.len; i++) {
		const struct outlier_value *value = &first->values.data[i];

		if (value->group == group && !first->nodes.data[value->a].slow &&
		    !first->nodes.data[value->b].slow)
			vec_push(&numbers.list, value->value);
	}
	return median_and_release(&numbers);
}

/* What a subject reached again, as shares of what is usual, by the measure that found it slow. */
static void conclude(double median, size_t rounds, double scale,
		     const struct outlier_limits *limits, struct slowness *slowness)
{
	slowness->again = rounds;
	if (slowness->again >= limits->rounds) {
		slowness->confirmed = -log(median) / scale > limits->mad;
		slowness->refuted = !slowness->confirmed;
	}
}

/* As slow again, with other partners; of few, but for the worst, as the pair may be to blame. */
void slow_confirm_node(const struct slow_values *values, int node, struct slowness *slowness)
{
	const struct outlier_node *suspect = &values->first.nodes.data[node];
	struct outliers own = { 0 };

	for (size_t i = 0; i < values->again.values.len; i++) {
		struct outlier_value value = values->again.values.data[i];
		double usual = usual_value(&values->first, value.group);

		value.ratio = value.value / usual;
		if ((value.a == node || value.b == node) && !isnan(usual))
			vec_push(&own.values, value);
	}
	for (size_t i = 0; i < values->first.nodes.len; i++)
		vec_push(&own.nodes, ((struct outlier_node){ .class = 0 }));
	outliers_scores(&own);
	conclude(own.nodes.data[node].score, own.nodes.data[node].rounds,
		 log(suspect->center / suspect->score) / suspect->off, &values->limits, slowness);
	outliers_release(&own);
}

/* What a node reaches with others than its partner in a slow pair, again or, if it met none, then.
 */
static double share_again(const struct slow_values *values, int node, int partner)
{
	const struct outlier_node *then = &values->first.nodes.data[node];
	struct numbers ratios = { 0 };
	double share;

	for (size_t i = 0; i < values->again.values.len; i++) {
		const struct outlier_value *value = &values->again.values.data[i];
		double usual;

		if ((value->a != node && value->b != node) || value->a == partner ||
		    value->b == partner)
			continue;
		usual = usual_value(&values->first, value->group);
		if (!isnan(usual))
			vec_push(&ratios.list, value->value / usual);
	}
	share = median_and_release(&ratios);
	if (isnan(share))
		share = then->score / then->center;
	return isnan(share) ? 1 : share;
}

static bool is_pair(const struct outlier_value *value, const struct outlier_pair *pair)
{
	return (value->a == pair->a && value->b == pair->b) ||
	       (value->a == pair->b && value->b == pair->a);
}

/* As slow again, and not for what its nodes reach with others. */
void slow_confirm_pair(const struct slow_values *values, const struct outlier_pair *pair,
		       struct slowness *slowness)
{
	double nodes =
		share_again(values, pair->a, pair->b) * share_again(values, pair->b, pair->a);
	struct numbers ratios = { 0 };
	size_t rounds;

	for (size_t i = 0; i < values->again.values.len; i++) {
		const struct outlier_value *value = &values->again.values.data[i];
		double usual = usual_value(&values->first, value->group);

		if (is_pair(value, pair) && !isnan(usual))
			vec_push(&ratios.list, value->value / usual / nodes);
	}
	rounds = ratios.list.len;
	conclude(median_and_release(&ratios), rounds, log(pair->center / pair->score) / pair->off,
		 &values->limits, slowness);
}
