// SPDX-License-Identifier: BSD-3-Clause
#include "memory/ranges.h"

#include <stdlib.h>

static uint64_t last_byte(const struct range *range)
{
	uint64_t more = range->size ? range->size - 1 : 0;

	return more > UINT64_MAX - range->start ? UINT64_MAX : range->start + more;
}

/* Ranges that overlap are equal: those in the tree do not, so one byte finds the one around it. */
static int compare(const struct range *left, const struct range *right)
{
	if (last_byte(left) < right->start)
		return -1;
	return left->start > last_byte(right);
}

RB_GENERATE_INTERNAL(range_tree, range, link, compare, static __attribute__((unused)))

static void end(struct ranges *ranges, struct range *range)
{
	RB_REMOVE(range_tree, &ranges->tree, range);
	ranges->count--;
	ranges->open -= !range->size;
	if (ranges->ended)
		ranges->ended(ranges->arg, range);
	free(range);
}

void ranges_clear(struct ranges *ranges)
{
	struct range *range;

	while ((range = RB_ROOT(&ranges->tree)))
		end(ranges, range);
}

size_t ranges_remove_within(struct ranges *ranges, uint64_t start, uint64_t size)
{
	struct range key = { .start = start, .size = size }, *range;
	size_t before = ranges->count;

	while (size && (range = RB_FIND(range_tree, &ranges->tree, &key)))
		end(ranges, range);
	return before - ranges->count;
}

void ranges_insert(struct ranges *ranges, uint64_t start, uint64_t size, void *value)
{
	struct range *range = malloc(sizeof(*range));

	if (!range)
		abort();
	ranges->replaced += ranges_remove_within(ranges, start, size ? size : 1);
	*range = (struct range){ .start = start, .size = size, .value = value };
	RB_INSERT(range_tree, &ranges->tree, range);
	ranges->count++;
	ranges->open += !size;
}

bool ranges_remove(struct ranges *ranges, uint64_t start)
{
	struct range key = { .start = start, .size = 1 };
	struct range *range = RB_FIND(range_tree, &ranges->tree, &key);

	if (!range || range->start != start)
		return false;
	end(ranges, range);
	return true;
}

/* The last one that begins before an address that no range of a known size is around. */
static const struct range *find_below(struct ranges *ranges, struct range *key)
{
	struct range *above = RB_NFIND(range_tree, &ranges->tree, key);

	return above ? RB_PREV(range_tree, &ranges->tree, above)
		     : RB_MAX(range_tree, &ranges->tree);
}

const struct range *ranges_find(struct ranges *ranges, uint64_t address)
{
	struct range key = { .start = address, .size = 1 };
	const struct range *range = RB_FIND(range_tree, &ranges->tree, &key);

	if (range || !ranges->open)
		return range;
	range = find_below(ranges, &key);
	return range && !range->size ? range : NULL;
}
