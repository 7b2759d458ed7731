/* SPDX-License-Identifier: BSD-3-Clause */
/* Middle and ends of a set of values. */
#ifndef UCXBPF_DIFF_NUMBER_H
#define UCXBPF_DIFF_NUMBER_H

#include <stdbool.h>

#include "base/spread.h"

/* The middle of values, and the values that count as their ends. */
struct diff_number {
	bool known;
	uint64_t median, low, high;
};

/* Median, tenth and ninetieth percentile; not known without values. */
struct diff_number spread_number(const struct spread *spread);

/* Median, least and most of count values, which are sorted; not known without values. */
struct diff_number number_of(uint64_t *values, size_t count);

/* Whether no value between the ends of one lies between those of the other. */
bool numbers_apart(const struct diff_number *a, const struct diff_number *b);

#endif
