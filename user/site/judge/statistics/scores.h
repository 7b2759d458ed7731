/* SPDX-License-Identifier: BSD-3-Clause */
/* Scores of those that are alike, and which of them are too far below the others. */
#ifndef UCXBPF_JUDGE_STATISTICS_SCORES_H
#define UCXBPF_JUDGE_STATISTICS_SCORES_H

#include <stdbool.h>

#include "site/judge/statistics/outliers.h"

/* Of fewer scores than that nothing is told. */
#define FEW_ALIKE 3

struct score {
	double value; /* logarithm */
	size_t rounds; /* that it is made of */
};

struct scores {
	VEC(struct score) list;
	double center; /* their median; found */
	double noise; /* noise_deviation() of the values they are made of; given */
};

/* NAN of none. */
void scores_find_center(struct scores *scores);

/*
 * How many spreads of the others a score is below the center; slow: whether that is too many, and
 * more than noise makes of so few rounds.
 */
double scores_judge(const struct scores *scores, size_t at, const struct outlier_limits *limits,
		    bool *slow);

/*
 * How far the values of one subject are from its median, over all of them: what noise is left. Of
 * an odd number, the one that is the median itself tells nothing of it.
 */
void noise_add(struct numbers *noise, const struct numbers *own, double median);

/* The standard deviation of normal noise that is as wide; 0 of none. Sorts. */
double noise_deviation(struct numbers *noise);

#endif
