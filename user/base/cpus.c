// SPDX-License-Identifier: BSD-3-Clause
#include "base/cpus.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>

#define MOST (1 << 20) /* far beyond the kernel's NR_CPUS */

struct range {
	long first, last;
};

static bool number(const char **at, long *value)
{
	char *end;

	if (!isdigit((unsigned char)**at))
		return false;
	*value = strtol(*at, &end, 10);
	*at = end;
	return *value <= MOST;
}

/* Takes the range that begins at a point, and the comma behind it. */
static bool next_range(const char **at, struct range *range)
{
	if (!number(at, &range->first))
		return false;
	range->last = range->first;
	if (**at == '-') {
		++*at;
		if (!number(at, &range->last) || range->last < range->first)
			return false;
	}
	if (**at != ',')
		return !**at;
	++*at;
	return **at;
}

int64_t cpus_count(const char *list)
{
	struct range range;
	int64_t count = 0;
	long before = -1;

	if (!list || !*list)
		return -1;
	while (*list) {
		if (!next_range(&list, &range) || range.first <= before)
			return -1;
		count += range.last - range.first + 1;
		before = range.last;
	}
	return count;
}

int64_t cpus_shared(const char *a, const char *b)
{
	struct range left = { 0, -1 }, right = { 0, -1 };
	int64_t count = 0;

	if (cpus_count(a) < 0 || cpus_count(b) < 0)
		return -1;
	next_range(&a, &left);
	next_range(&b, &right);
	for (;;) {
		long first = left.first > right.first ? left.first : right.first;
		long last = left.last < right.last ? left.last : right.last;

		count += last >= first ? last - first + 1 : 0;
		if (!(left.last < right.last ? next_range(&a, &left) : next_range(&b, &right)))
			return count;
	}
}
