// SPDX-License-Identifier: BSD-3-Clause
#include "judge/statistics.h"

#include <math.h>

#define NORMAL 1.4826

static int by_value(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

double median_of(double *numbers, size_t count)
{
	if (!count)
		return NAN;
	qsort(numbers, count, sizeof(*numbers), by_value);
	return (numbers[(count - 1) / 2] + numbers[count / 2]) / 2;
}

double spread_of(const double *numbers, size_t count, double center)
{
	struct numbers distances = { 0 };
	double spread;

	for (size_t i = 0; i < count; i++)
		vec_push(&distances.list, fabs(numbers[i] - center));
	spread = NORMAL * median_of(distances.list.data, count);
	vec_release(&distances.list);
	return spread;
}
