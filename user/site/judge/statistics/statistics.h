/* SPDX-License-Identifier: BSD-3-Clause */
/* Robust statistics: a few outliers change none of them. */
#ifndef UCXBPF_JUDGE_STATISTICS_STATISTICS_H
#define UCXBPF_JUDGE_STATISTICS_STATISTICS_H

#include <stddef.h>

#include "base/vec.h"

struct numbers {
	VEC(double) list;
};

/* Sorts. The median; the mean of the middle two of an even number; NAN if empty. */
double median_of(double *numbers, size_t count);

/*
 * Sorts. The larger of these two: at least half of the numbers are no larger. Needs one number at
 * least.
 */
double upper_median_of(double *numbers, size_t count);

/* The same of a list, which is released. */
double median_and_release(struct numbers *numbers);

/* The standard deviation of a normal distribution, in median absolute deviations. */
#define NORMAL_SPREAD 1.4826

/* Median of the distances to center, times NORMAL_SPREAD. */
double spread_of(const double *numbers, size_t count, double center);

#endif
