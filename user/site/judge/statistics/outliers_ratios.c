// SPDX-License-Identifier: BSD-3-Clause
/* Each value to the median of those that are alike. */
#include <math.h>

#include "site/judge/statistics/samples.h"
#include "site/judge/statistics/outliers.h"

/* Fewer pairs than that in a round, and one slow node moves their median: all rounds have one. */
#define FEW_PAIRS 5
#define FEW_NODES 5

static int by_group(const void *left, const void *right)
{
	const struct outlier_value *a = left, *b = right;

	if (a->group != b->group)
		return (a->group > b->group) - (a->group < b->group);
	return (a->round > b->round) - (a->round < b->round);
}

static double median_value(const struct outlier_value *values, size_t count)
{
	struct numbers numbers = { 0 };

	for (size_t i = 0; i < count; i++)
		vec_push(&numbers.list, values[i].value);
	return median_and_release(&numbers);
}

/* The node whose pairs are slowest; nodes: how many there are. */
static int slowest_node(const struct outlier_value *values, size_t count, size_t *nodes)
{
	struct samples samples = { 0 };
	int slowest = -1;
	long at;

	for (size_t i = 0; i < count; i++)
		samples_add_ends(&samples, values[i].a, values[i].b, log(values[i].value));
	samples_sort(&samples);
	at = samples_slowest_run(&samples, 0, samples.list.len, false, nodes);
	if (at >= 0)
		slowest = (int)samples.list.data[at].subject;
	vec_release(&samples.list);
	return slowest;
}

/*
 * What is usual in a group. Of few nodes, a slow one is in half of all pairs or more: there, the
 * slowest has no part in it.
 */
static double usual_of_group(const struct outlier_value *values, size_t count)
{
	struct numbers numbers = { 0 };
	double median;
	size_t nodes;
	int slowest = slowest_node(values, count, &nodes);

	for (size_t i = 0; nodes <= FEW_NODES && i < count; i++)
		if (values[i].a != slowest && values[i].b != slowest)
			vec_push(&numbers.list, values[i].value);
	median = numbers.list.len ? median_of(numbers.list.data, numbers.list.len)
				  : median_value(values, count);
	vec_release(&numbers.list);
	return median;
}

void outliers_ratios(struct outliers *outliers)
{
	struct outlier_value *values = outliers->values.data;
	size_t count = outliers->values.len, group_end = 0, to;
	double of_group = NAN;

	if (count)
		qsort(values, count, sizeof(*values), by_group);
	for (size_t from = 0; from < count; from = to) {
		double median;

		if (from == group_end) {
			while (group_end < count && values[group_end].group == values[from].group)
				group_end++;
			of_group = usual_of_group(values + from, group_end - from);
		}
		for (to = from; to < group_end && values[to].round == values[from].round;)
			to++;
		median = to - from < FEW_PAIRS ? of_group : median_value(values + from, to - from);
		for (size_t i = from; i < to; i++)
			values[i].ratio = values[i].value / median;
	}
}
