// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/statistics/scores.h"

#include <math.h>

/* The spread of n others is taken to be wider by that many n-ths. */
#define FEW_OTHERS 2.

/* A median of so many noisy values is off by that many times its standard error at most. */
#define ERRORS 4
#define MEDIAN_ERROR 1.2533 /* of a median, to the mean's */

void noise_add(struct numbers *noise, const struct numbers *own, double median)
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

double noise_deviation(struct numbers *noise)
{
	return noise->list.len ? NORMAL_SPREAD * median_of(noise->list.data, noise->list.len) : 0;
}

void scores_find_center(struct scores *scores)
{
	struct numbers numbers = { 0 };

	for (size_t i = 0; i < scores->list.len; i++)
		vec_push(&numbers.list, scores->list.data[i].value);
	scores->center = median_and_release(&numbers);
}

/*
 * Of the others alone: of few, the one that is far off would make it so wide that it is within. And
 * of few, their middle one is often close by chance: the fewer, the wider it is taken.
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

double scores_judge(const struct scores *scores, size_t at, const struct outlier_limits *limits,
		    bool *slow)
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
