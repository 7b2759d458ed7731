// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/statistics/outliers.h"

#include <math.h>

#include "site/judge/statistics/samples.h"
#include "site/judge/statistics/scores.h"

/* Of fewer partners than that, one is so much of a node's median that it moves it. */
#define FEW_PARTNERS 4

void outliers_release(struct outliers *outliers)
{
	vec_release(&outliers->values);
	vec_release(&outliers->nodes);
	vec_release(&outliers->pairs);
}

/* The partner with which it was slowest, of few: it may be that one's fault. -1: of many. */
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
