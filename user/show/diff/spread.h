/* SPDX-License-Identifier: BSD-3-Clause */
/* How values lie: a histogram of many, and the middle and ends of few. */
#ifndef UCXBPF_DIFF_SPREAD_H
#define UCXBPF_DIFF_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The middle of values, and what counts as their ends. */
struct diff_number {
	bool known;
	uint64_t median, low, high;
};

/* Buckets are 1/32 of their values wide: quantiles are within 1.6 % of the true ones. */
#define SPREAD_BUCKETS 1920

struct spread {
	uint64_t count;
	uint32_t buckets[SPREAD_BUCKETS]; /* up to 4 billion each */
};

void spread_add(struct spread *spread, uint64_t value);
void spread_join(struct spread *to, const struct spread *from);

/* Median, tenth and ninetieth percentile; not known without values. */
struct diff_number spread_number(const struct spread *spread);

/* Median, least and most of count values, which are sorted; not known without values. */
struct diff_number number_of(uint64_t *values, size_t count);

/* No value between the ends of one lies between those of the other. */
bool numbers_apart(const struct diff_number *a, const struct diff_number *b);

#endif
