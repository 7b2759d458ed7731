// SPDX-License-Identifier: BSD-3-Clause
#include <stdbool.h>
#include <string.h>

#include "file/sort.h"

/* Three passes over 11 bits order the records of two seconds. */
#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

static bool is_sorted(const struct block_row *rows, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (rows[i].ts < rows[i - 1].ts)
			return false;
	return true;
}

static void sort_digit(const struct block_row *from, struct block_row *to, size_t n, uint64_t min,
		       unsigned int shift)
{
	uint32_t start[DIGITS] = { 0 };
	uint32_t place = 0;
	size_t i;

	for (i = 0; i < n; i++)
		start[(from[i].ts - min) >> shift & (DIGITS - 1)]++;
	for (i = 0; i < DIGITS; i++) {
		uint32_t count = start[i];

		start[i] = place;
		place += count;
	}
	for (i = 0; i < n; i++)
		to[start[(from[i].ts - min) >> shift & (DIGITS - 1)]++] = from[i];
}

struct block_row *rows_sort(struct block_row *rows, struct block_row *spare, size_t n)
{
	uint64_t min = UINT64_MAX, max = 0;
	unsigned int shift;
	size_t i;

	if (is_sorted(rows, n))
		return rows;
	for (i = 0; i < n; i++) {
		if (rows[i].ts < min)
			min = rows[i].ts;
		if (rows[i].ts > max)
			max = rows[i].ts;
	}
	for (shift = 0; shift < 64 && (max - min) >> shift; shift += DIGIT_BITS) {
		struct block_row *sorted = spare;

		sort_digit(rows, sorted, n, min, shift);
		spare = rows;
		rows = sorted;
	}
	return rows;
}
