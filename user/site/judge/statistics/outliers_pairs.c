// SPDX-License-Identifier: BSD-3-Clause
#include <math.h>

#include "site/judge/statistics/samples.h"
#include "site/judge/statistics/outliers.h"
#include "site/judge/statistics/scores.h"

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
