// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/statistics/outliers.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "site/judge/statistics/statistics.h"

/* Values of one subject after another: of a node with each of its partners, or of a pair. */
struct sample {
	uint64_t subject;
	int partner; /* of a node, in that value */
	double value; /* logarithm of a ratio: half as much is as far as twice as much */
};

struct samples {
	VEC(struct sample) list;
};

/* Fewer scores give no result. */
#define FEW_ALIKE 3

struct score {
	double value; /* logarithm */
	size_t rounds; /* that it is made of */
};

/* Scores of similar nodes or pairs, and which of them are outliers. */
struct scores {
	VEC(struct score) list;
	double center; /* their median; found */
	double noise; /* noise_deviation() of the values they are made of; given */
};

/* ---- samples ---- */

static int by_subject(const void *left, const void *right)
{
	const struct sample *a = left, *b = right;

	if (a->subject != b->subject)
		return (a->subject > b->subject) - (a->subject < b->subject);
	return (a->partner > b->partner) - (a->partner < b->partner);
}

/* By subject, then by partner: the order that all functions below need. */
static void samples_sort(struct samples *samples)
{
	if (samples->list.len)
		qsort(samples->list.data, samples->list.len, sizeof(struct sample), by_subject);
}

/* A value of both its nodes, each as the subject with the other one as its partner. */
static void samples_add_ends(struct samples *samples, int a, int b, double value)
{
	vec_push(&samples->list, ((struct sample){ a, b, value }));
	vec_push(&samples->list, ((struct sample){ b, a, value }));
}

/* As many samples, from one on, as are of its subject; with its partner alone, if wanted. */
static size_t samples_run(const struct samples *samples, size_t from, bool partner)
{
	const struct sample *first = &samples->list.data[from];
	size_t to = from;

	while (to < samples->list.len && samples->list.data[to].subject == first->subject &&
	       (!partner || samples->list.data[to].partner == first->partner))
		to++;
	return to - from;
}

/* Appends the values of so many samples. */
static void samples_take(const struct samples *samples, size_t from, size_t count,
			 struct numbers *numbers)
{
	for (size_t i = from; i < from + count; i++)
		vec_push(&numbers->list, samples->list.data[i].value);
}

/*
 * Of the runs within so many samples, the first sample of that whose median is least; -1: no
 * samples. runs: how many there are.
 */
static long samples_slowest_run(const struct samples *samples, size_t from, size_t count,
				bool partner, size_t *runs)
{
	struct numbers own = { 0 };
	double least = INFINITY;
	long slowest = -1;
	size_t length;

	*runs = 0;
	for (size_t at = from; at < from + count; at += length) {
		double median;

		own.list.len = 0;
		length = samples_run(samples, at, partner);
		samples_take(samples, at, length, &own);
		median = median_of(own.list.data, own.list.len);
		++*runs;
		if (median < least) {
			least = median;
			slowest = (long)at;
		}
	}
	vec_release(&own.list);
	return slowest;
}

/* ---- scores ---- */

/* The spread of n others is taken to be wider by that many n-ths. */
#define FEW_OTHERS 2.

/* A median of so many noisy values is off by that many times its standard error at most. */
#define ERRORS 4
#define MEDIAN_ERROR 1.2533 /* of a median, to the mean's */

/*
 * The noise that is left: how far the values of each subject are from its median. Of an odd number
 * of values, the one that is the median itself does not count.
 */
static void noise_add(struct numbers *noise, const struct numbers *own, double median)
{
	bool left_out = own->list.len % 2 == 0;

	for (size_t i = 0; i < own->list.len; i++) {
		double distance = fabs(own->list.data[i] - median);

		if (distance > 0 || left_out)
			vec_push(&noise->list, distance);
		else
			left_out = true;
	}
}

/* The standard deviation of normal noise of the same width; 0 without values. Sorts. */
static double noise_deviation(struct numbers *noise)
{
	return noise->list.len ? NORMAL_SPREAD * median_of(noise->list.data, noise->list.len) : 0;
}

/* NAN without values. */
static void scores_find_center(struct scores *scores)
{
	struct numbers numbers = { 0 };

	for (size_t i = 0; i < scores->list.len; i++)
		vec_push(&numbers.list, scores->list.data[i].value);
	scores->center = median_and_release(&numbers);
}

/*
 * The spread of the others alone: if they are few, a value that is far off would widen the spread
 * so much that it lies within. And if they are few, their middle distance is often small by chance:
 * the fewer, the more it is widened.
 */
static double spread_without(const struct scores *scores, size_t at)
{
	struct numbers others = { 0 };
	double spread;

	for (size_t i = 0; i < scores->list.len; i++)
		if (i != at)
			vec_push(&others.list, scores->list.data[i].value);
	spread = spread_of(others.list.data, others.list.len, scores->center);
	spread *= 1 + FEW_OTHERS / others.list.len;
	vec_release(&others.list);
	return spread;
}

/*
 * How many spreads of the others a score is below the center; slow: whether that is too many, and
 * more than noise makes of so few rounds.
 */
static double scores_judge(const struct scores *scores, size_t at,
			   const struct outlier_limits *limits, bool *slow)
{
	const struct score *score = &scores->list.data[at];
	double least = -log1p(-limits->floor) / limits->mad;
	double spread = spread_without(scores, at);
	double scale = spread > least ? spread : least;
	double error = ERRORS * MEDIAN_ERROR * scores->noise / sqrt(score->rounds);
	double below = scores->center - score->value;

	*slow = below / scale > limits->mad && below > error;
	return below / scale;
}

/* ---- each value relative to the median of its group ---- */

/*
 * With fewer pairs than that in a round, one slow node moves their median: then all rounds share
 * one median.
 */
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
 * The usual value of a group. Among few nodes, a slow one is in half of all pairs or more: there,
 * the slowest is left out.
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

/* Fills in the ratios of all values; sorts them. */
static void outliers_ratios(struct outliers *outliers)
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

/* ---- nodes ---- */

/* With fewer partners, one of them moves a node's median. */
#define FEW_PARTNERS 4

void outliers_release(struct outliers *outliers)
{
	vec_release(&outliers->values);
	vec_release(&outliers->nodes);
	vec_release(&outliers->pairs);
}

/*
 * If it had few partners, the one with which it was slowest, who may be at fault. -1: it had many.
 */
static int worst_partner(const struct samples *samples, size_t from, size_t count)
{
	size_t partners;
	long at = samples_slowest_run(samples, from, count, true, &partners);

	return at >= 0 && partners > 1 && partners <= FEW_PARTNERS ? samples->list.data[at].partner
								   : -1;
}

static void score_node(const struct samples *samples, size_t from, size_t count,
		       struct outlier_node *node, struct numbers *noise)
{
	int worst = worst_partner(samples, from, count);
	struct numbers own = { 0 };
	double median;

	for (size_t i = from; i < from + count; i++)
		if (samples->list.data[i].partner != worst)
			vec_push(&own.list, samples->list.data[i].value);
	median = median_of(own.list.data, own.list.len);
	noise_add(noise, &own, median);
	node->rounds = count;
	node->used = own.list.len;
	node->score = exp(median);
	vec_release(&own.list);
}

double outliers_scores(struct outliers *outliers)
{
	struct samples samples = { 0 };
	struct numbers noise = { 0 };
	size_t count;
	double all;

	for (size_t i = 0; i < outliers->values.len; i++) {
		const struct outlier_value *value = &outliers->values.data[i];

		samples_add_ends(&samples, value->a, value->b, log(value->ratio));
	}
	samples_sort(&samples);
	for (size_t at = 0; at < samples.list.len; at += count) {
		count = samples_run(&samples, at, false);
		score_node(&samples, at, count,
			   &outliers->nodes.data[samples.list.data[at].subject], &noise);
	}
	all = noise_deviation(&noise);
	vec_release(&samples.list);
	vec_release(&noise.list);
	return all;
}

static void judge_class(struct outliers *outliers, int class, double noise,
			const struct outlier_limits *limits)
{
	struct scores scores = { .noise = noise };
	VEC(struct outlier_node *) nodes = { 0 };

	for (size_t i = 0; i < outliers->nodes.len; i++) {
		struct outlier_node *node = &outliers->nodes.data[i];

		if (node->class != class || !node->rounds)
			continue;
		vec_push(&nodes, node);
		vec_push(&scores.list, ((struct score){ log(node->score), node->used }));
	}
	scores_find_center(&scores);
	for (size_t i = 0; scores.list.len >= FEW_ALIKE && i < nodes.len; i++) {
		nodes.data[i]->center = exp(scores.center);
		nodes.data[i]->off = scores_judge(&scores, i, limits, &nodes.data[i]->slow);
		nodes.data[i]->slow =
			nodes.data[i]->slow && nodes.data[i]->rounds >= limits->rounds;
	}
	vec_release(&nodes);
	vec_release(&scores.list);
}

void outliers_nodes(struct outliers *outliers, const struct outlier_limits *limits)
{
	int classes = 0;
	double noise;

	outliers_ratios(outliers);
	for (size_t i = 0; i < outliers->nodes.len; i++) {
		struct outlier_node *node = &outliers->nodes.data[i];

		*node = (struct outlier_node){ .class = node->class, .score = NAN, .center = NAN };
		classes = node->class >= classes ? node->class + 1 : classes;
	}
	noise = outliers_scores(outliers);
	for (int class = 0; class < classes; class ++)
		judge_class(outliers, class, noise, limits);
}

/* ---- pairs of nodes ---- */

static double share_of_node(const struct outlier_node *node)
{
	return isnan(node->center) ? 1 : node->score / node->center;
}

static void add_pairs(struct outliers *outliers, struct samples *samples)
{
	for (size_t i = 0; i < outliers->values.len; i++) {
		const struct outlier_value *value = &outliers->values.data[i];
		uint64_t low = value->a < value->b ? value->a : value->b;
		uint64_t high = value->a < value->b ? value->b : value->a;
		double nodes = share_of_node(&outliers->nodes.data[low]) *
			       share_of_node(&outliers->nodes.data[high]);

		vec_push(&samples->list,
			 ((struct sample){ low << 32 | high, 0, log(value->ratio / nodes) }));
	}
	samples_sort(samples);
}

static void judge_pairs(struct outliers *outliers, struct scores *scores,
			const struct outlier_limits *limits)
{
	scores_find_center(scores);
	if (scores->list.len < FEW_ALIKE)
		outliers->pairs.len = 0;
	for (size_t i = 0; i < outliers->pairs.len; i++) {
		struct outlier_pair *pair = &outliers->pairs.data[i];

		pair->center = exp(scores->center);
		pair->off = scores_judge(scores, i, limits, &pair->slow);
	}
}

void outliers_pairs(struct outliers *outliers, const struct outlier_limits *limits)
{
	struct numbers own = { 0 }, noise = { 0 };
	struct samples samples = { 0 };
	struct scores scores = { 0 };
	size_t count;

	add_pairs(outliers, &samples);
	for (size_t at = 0; at < samples.list.len; at += count) {
		uint64_t subject = samples.list.data[at].subject;
		struct score score;

		count = samples_run(&samples, at, false);
		if (count < limits->rounds)
			continue;
		own.list.len = 0;
		samples_take(&samples, at, count, &own);
		score = (struct score){ median_of(own.list.data, count), count };
		noise_add(&noise, &own, score.value);
		vec_push(&scores.list, score);
		vec_push(&outliers->pairs, ((struct outlier_pair){ .a = subject >> 32,
								   .b = (uint32_t)subject,
								   .rounds = count,
								   .score = exp(score.value) }));
	}
	scores.noise = noise_deviation(&noise);
	judge_pairs(outliers, &scores, limits);
	vec_release(&samples.list);
	vec_release(&own.list);
	vec_release(&noise.list);
	vec_release(&scores.list);
}
