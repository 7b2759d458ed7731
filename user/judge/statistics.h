/* SPDX-License-Identifier: BSD-3-Clause */
/* Robust numbers: a few values that are far off change none of them. */
#ifndef UCXBPF_JUDGE_STATISTICS_H
#define UCXBPF_JUDGE_STATISTICS_H

#include <stddef.h>

#include "base/vec.h"

struct numbers {
	VEC(double) list;
};

/* Sorts; the mean of the two in the middle of an even number; NAN of none. */
double median_of(double *numbers, size_t count);

/* Median of the distances to center, times 1.4826: the standard deviation, of a normal one. */
double spread_of(const double *numbers, size_t count, double center);

#endif
