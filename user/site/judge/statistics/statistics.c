// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/statistics/statistics.h"

#include <math.h>

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

double median_and_release(struct numbers *numbers)
{
	double median = median_of(numbers->list.data, numbers->list.len);

	vec_release(&numbers->list);
	return median;
}

double upper_median_of(double *numbers, size_t count)
{
	qsort(numbers, count, sizeof(*numbers), by_value);
	return numbers[count / 2];
}

double spread_of(const double *numbers, size_t count, double center)
{
	struct numbers distances = { 0 };

	for (size_t i = 0; i < count; i++)
		vec_push(&distances.list, fabs(numbers[i] - center));
	return NORMAL_SPREAD * median_and_release(&distances);
}
