// SPDX-License-Identifier: BSD-3-Clause
#include "judge/outliers.h"

#include <math.h>
#include <string.h>

/* Fewer pairs than that in a round, and one slow node moves their median: all rounds have one. */
#define FEW_PAIRS 5
#define FEW_ALIKE 3

/* A median of so many noisy values is off by that many times its standard error at most. */
#define ERRORS 4
#define MEDIAN_ERROR 1.2533 /* of a median, to the mean's */

void outliers_release(struct outliers *outliers)
{
	vec_release(&outliers->values);
	vec_release(&outliers->nodes);
	vec_release(&outliers->pairs);
}

/* ---- each value to the median of those that are alike ---- */

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
	double median;

	for (size_t i = 0; i < count; i++)
		vec_push(&numbers.list, values[i].value);
	median = median_of(numbers.list.data, numbers.list.len);
	vec_release(&numbers.list);
	return median;
}

static void find_ratios(struct outliers *outliers)
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
			of_group = median_value(values + from, group_end - from);
		}
		for (to = from; to < group_end && values[to].round == values[from].round;)
			to++;
		median = to - from < FEW_PAIRS ? of_group : median_value(values + from, to - from);
		for (size_t i = from; i < to; i++)
			values[i].ratio = values[i].value / median;
	}
}

/* ---- values of one subject after another ---- */

struct entry {
	uint64_t subject;
	double value;
};

struct entries {
	VEC(struct entry) list;
};

static int by_subject(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	return (a->subject > b->subject) - (a->subject < b->subject);
}

static void sort_entries(struct entries *entries)
{
	if (entries->list.len)
		qsort(entries->list.data, entries->list.len, sizeof(struct entry), by_subject);
}

/* The values of the subject at *at, which moves behind them. */
static void take_subject(const struct entries *entries, size_t *at, struct numbers *numbers)
{
	uint64_t subject = entries->list.data[*at].subject;

	numbers->list.len = 0;
	for (; *at < entries->list.len && entries->list.data[*at].subject == subject; ++*at)
		vec_push(&numbers->list, entries->list.data[*at].value);
}

/*
 * How far the values of one subject are from its median, over all of them: what noise is left. Of
 * two values, each is as far; of one, it is not.
 */
static void add_noise(struct numbers *noise, const struct numbers *own, double median)
{
	for (size_t i = 0; own->list.len > 1 && i < own->list.len; i++)
		vec_push(&noise->list, fabs(own->list.data[i] - median));
}

static double deviation(struct numbers *noise)
{
	return noise->list.len ? 1.4826 * median_of(noise->list.data, noise->list.len) : 0;
}

/* How many spreads a score is below the center, and whether that is too many. */
static double judge_score(double score, double center, double spread, double noise, size_t rounds,
			  const struct outlier_limits *limits, bool *slow)
{
	double least = center * limits->floor / limits->mad;
	double scale = spread > least ? spread : least;
	double error = ERRORS * MEDIAN_ERROR * noise / sqrt(rounds);

	*slow = rounds >= limits->rounds && (center - score) / scale > limits->mad &&
		center - score > error;
	return (center - score) / scale;
}

/* ---- nodes ---- */

static double score_nodes(struct outliers *outliers)
{
	struct numbers own = { 0 }, noise = { 0 };
	struct entries entries = { 0 };
	double all;

	for (size_t i = 0; i < outliers->values.len; i++) {
		const struct outlier_value *value = &outliers->values.data[i];

		vec_push(&entries.list, ((struct entry){ value->a, value->ratio }));
		vec_push(&entries.list, ((struct entry){ value->b, value->ratio }));
	}
	sort_entries(&entries);
	for (size_t at = 0; at < entries.list.len;) {
		struct outlier_node *node = &outliers->nodes.data[entries.list.data[at].subject];

		take_subject(&entries, &at, &own);
		node->rounds = own.list.len;
		node->score = median_of(own.list.data, own.list.len);
		add_noise(&noise, &own, node->score);
	}
	all = deviation(&noise);
	vec_release(&entries.list);
	vec_release(&own.list);
	vec_release(&noise.list);
	return all;
}

static void judge_class(struct outliers *outliers, int class, double noise,
			const struct outlier_limits *limits)
{
	struct numbers scores = { 0 };
	double center, spread;

	for (size_t i = 0; i < outliers->nodes.len; i++)
		if (outliers->nodes.data[i].class == class && outliers->nodes.data[i].rounds)
			vec_push(&scores.list, outliers->nodes.data[i].score);
	center = median_of(scores.list.data, scores.list.len);
	spread = spread_of(scores.list.data, scores.list.len, center);
	for (size_t i = 0; scores.list.len >= FEW_ALIKE && i < outliers->nodes.len; i++) {
		struct outlier_node *node = &outliers->nodes.data[i];

		if (node->class != class || !node->rounds)
			continue;
		node->center = center;
		node->off = judge_score(node->score, center, spread, noise, node->rounds, limits,
					&node->slow);
	}
	vec_release(&scores.list);
}

void outliers_nodes(struct outliers *outliers, const struct outlier_limits *limits)
{
	int classes = 0;
	double noise;

	find_ratios(outliers);
	for (size_t i = 0; i < outliers->nodes.len; i++) {
		struct outlier_node *node = &outliers->nodes.data[i];

		*node = (struct outlier_node){ .class = node->class, .score = NAN, .center = NAN };
		classes = node->class >= classes ? node->class + 1 : classes;
	}
	noise = score_nodes(outliers);
	for (int class = 0; class < classes; class ++)
		judge_class(outliers, class, noise, limits);
}

/* ---- pairs ---- */

static double share_of_node(const struct outlier_node *node)
{
	return isnan(node->center) ? 1 : node->score / node->center;
}

static void add_pairs(struct outliers *outliers, struct entries *entries)
{
	for (size_t i = 0; i < outliers->values.len; i++) {
		const struct outlier_value *value = &outliers->values.data[i];
		uint64_t low = value->a < value->b ? value->a : value->b;
		uint64_t high = value->a < value->b ? value->b : value->a;
		double nodes = share_of_node(&outliers->nodes.data[low]) *
			       share_of_node(&outliers->nodes.data[high]);

		vec_push(&entries->list,
			 ((struct entry){ low << 32 | high, value->ratio / nodes }));
	}
	sort_entries(entries);
}

void outliers_pairs(struct outliers *outliers, const struct outlier_limits *limits)
{
	struct numbers own = { 0 }, noise = { 0 }, scores = { 0 };
	struct entries entries = { 0 };
	double center, spread, left;

	add_pairs(outliers, &entries);
	for (size_t at = 0; at < entries.list.len;) {
		uint64_t subject = entries.list.data[at].subject;
		struct outlier_pair pair = { .a = subject >> 32, .b = (uint32_t)subject };

		take_subject(&entries, &at, &own);
		pair.rounds = own.list.len;
		pair.score = median_of(own.list.data, own.list.len);
		if (pair.rounds < limits->rounds)
			continue;
		add_noise(&noise, &own, pair.score);
		vec_push(&scores.list, pair.score);
		vec_push(&outliers->pairs, pair);
	}
	center = median_of(scores.list.data, scores.list.len);
	spread = spread_of(scores.list.data, scores.list.len, center);
	left = deviation(&noise);
	for (size_t i = 0; scores.list.len >= FEW_ALIKE && i < outliers->pairs.len; i++) {
		struct outlier_pair *pair = &outliers->pairs.data[i];

		pair->center = center;
		pair->off = judge_score(pair->score, center, spread, left, pair->rounds, limits,
					&pair->slow);
	}
	if (scores.list.len < FEW_ALIKE)
		outliers->pairs.len = 0;
	vec_release(&entries.list);
	vec_release(&own.list);
	vec_release(&noise.list);
	vec_release(&scores.list);
}
