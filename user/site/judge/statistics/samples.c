// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/statistics/samples.h"

#include <math.h>

static int by_subject(const void *left, const void *right)
{
	const struct sample *a = left, *b = right;

	if (a->subject != b->subject)
		return (a->subject > b->subject) - (a->subject < b->subject);
	return (a->partner > b->partner) - (a->partner < b->partner);
}

void samples_sort(struct samples *samples)
{
	if (samples->list.len)
		qsort(samples->list.data, samples->list.len, sizeof(struct sample), by_subject);
}

void samples_add_ends(struct samples *samples, int a, int b, double value)
{
	vec_push(&samples->list, ((struct sample){ a, b, value }));
	vec_push(&samples->list, ((struct sample){ b, a, value }));
}

size_t samples_run(const struct samples *samples, size_t from, bool partner)
{
	const struct sample *first = &samples->list.data[from];
	size_t to = from;

	while (to < samples->list.len && samples->list.data[to].subject == first->subject &&
	       (!partner || samples->list.data[to].partner == first->partner))
		to++;
	return to - from;
}

void samples_take(const struct samples *samples, size_t from, size_t count, struct numbers *numbers)
{
	for (size_t i = from; i < from + count; i++)
		vec_push(&numbers->list, samples->list.data[i].value);
}

long samples_slowest_run(const struct samples *samples, size_t from, size_t count, bool partner,
			 size_t *runs)
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
