// SPDX-License-Identifier: BSD-3-Clause
#include "explain/memory/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Where a range is, or would be. */
struct range_place {
	size_t leaf, at;
};

static uint64_t last_byte(const struct range *range)
{
	uint64_t more = range->size ? range->size - 1 : 0;

	return more > UINT64_MAX - range->start ? UINT64_MAX : range->start + more;
}

/* Number of n sorted addresses that are not above this one, without data-dependent branches. */
static size_t count_until(const uint64_t *sorted, size_t n, uint64_t address)
{
	const uint64_t *from = sorted;

	while (n > 1) {
		size_t half = n / 2;

		from += from[half] <= address ? half : 0;
		n -= half;
	}
	return (size_t)(from - sorted) + (n && *from <= address);
}

/* The last range that begins no later; false: none does. */
static bool find_until(const struct ranges *ranges, uint64_t address, struct range_place *place)
{
	size_t leaf = count_until(ranges->firsts.data, ranges->firsts.len, address);
	const struct range_leaf *found;

	if (!leaf)
		return false;
	found = ranges->leaves.data[leaf - 1];
	place->leaf = leaf - 1;
	place->at = count_until(found->starts, found->count, address) - 1;
	return true;
}

static struct range *range_at(const struct ranges *ranges, struct range_place place)
{
	return &ranges->leaves.data[place.leaf]->ranges[place.at];
}

/* Makes room for one more leaf there, or takes that one out. */
static void shift_leaves(struct ranges *ranges, size_t at, int by)
{
	size_t from = by > 0 ? at : at + 1, rest = ranges->leaves.len - from;

	if (by > 0) {
		vec_add(&ranges->firsts);
		vec_add(&ranges->leaves);
	}
	memmove(ranges->firsts.data + from + by, ranges->firsts.data + from,
		rest * sizeof(*ranges->firsts.data));
	memmove(ranges->leaves.data + from + by, ranges->leaves.data + from,
		rest * sizeof(*ranges->leaves.data));
	if (by < 0) {
		ranges->firsts.len--;
		ranges->leaves.len--;
	}
}

static void shift_ranges(struct range_leaf *leaf, size_t from, int by)
{
	size_t rest = leaf->count - from;

	memmove(leaf->starts + from + by, leaf->starts + from, rest * sizeof(*leaf->starts));
	memmove(leaf->ranges + from + by, leaf->ranges + from, rest * sizeof(*leaf->ranges));
	leaf->count += by;
}

static void leaf_add(struct ranges *ranges, size_t at)
{
	struct range_leaf *leaf = xcalloc(1, sizeof(*leaf));

	shift_leaves(ranges, at, 1);
	ranges->leaves.data[at] = leaf;
}

/* A full leaf's upper half becomes a leaf of its own. */
static void split(struct ranges *ranges, size_t at)
{
	struct range_leaf *low, *high;
	const size_t half = RANGE_LEAF / 2;

	leaf_add(ranges, at + 1);
	low = ranges->leaves.data[at];
	high = ranges->leaves.data[at + 1];
	memcpy(high->starts, low->starts + half, half * sizeof(*low->starts));
	memcpy(high->ranges, low->ranges + half, half * sizeof(*low->ranges));
	low->count = high->count = half;
	ranges->firsts.data[at + 1] = high->starts[0];
}

/* Where a range that begins there belongs, with room for it. */
static struct range_place place_for(struct ranges *ranges, uint64_t start)
{
	struct range_place place = { 0 };

	if (!ranges->leaves.len)
		leaf_add(ranges, 0);
	if (find_until(ranges, start, &place))
		place.at++;
	if (ranges->leaves.data[place.leaf]->count < RANGE_LEAF)
		return place;
	split(ranges, place.leaf);
	if (place.at > RANGE_LEAF / 2)
		place = (struct range_place){ place.leaf + 1, place.at - RANGE_LEAF / 2 };
	return place;
}

static void ranges_put(struct ranges *ranges, const struct range *range)
{
	struct range_place place = place_for(ranges, range->start);
	struct range_leaf *leaf = ranges->leaves.data[place.leaf];

	shift_ranges(leaf, place.at, 1);
	leaf->starts[place.at] = range->start;
	leaf->ranges[place.at] = *range;
	ranges->firsts.data[place.leaf] = leaf->starts[0];
	ranges->count++;
	ranges->open += !range->size;
}

static void take_out(struct ranges *ranges, struct range_place place)
{
	struct range_leaf *leaf = ranges->leaves.data[place.leaf];

	ranges->count--;
	ranges->open -= !leaf->ranges[place.at].size;
	shift_ranges(leaf, place.at + 1, -1);
	if (leaf->count) {
		ranges->firsts.data[place.leaf] = leaf->starts[0];
		return;
	}
	free(leaf);
	shift_leaves(ranges, place.leaf, -1);
}

static void ranges_end(struct ranges *ranges, struct range_place place)
{
	struct range range = *range_at(ranges, place);

	take_out(ranges, place);
	if (ranges->ended)
		ranges->ended(ranges->arg, &range);
}

void ranges_clear(struct ranges *ranges)
{
	while (ranges->leaves.len) {
		size_t last = ranges->leaves.len - 1;

		ranges_end(ranges,
			   (struct range_place){ last, ranges->leaves.data[last]->count - 1 });
	}
	vec_release(&ranges->firsts);
	vec_release(&ranges->leaves);
}

size_t ranges_remove_within(struct ranges *ranges, uint64_t start, uint64_t size)
{
	struct range key = { .start = start, .size = size };
	size_t before = ranges->count;
	struct range_place place;

	while (size && find_until(ranges, last_byte(&key), &place) &&
	       last_byte(range_at(ranges, place)) >= start)
		ranges_end(ranges, place);
	return before - ranges->count;
}

size_t ranges_remove_where(struct ranges *ranges,
			   bool (*over)(const void *arg, const struct range *range),
			   const void *arg)
{
	size_t before = ranges->count;

	for (size_t leaf = ranges->leaves.len; leaf-- > 0;)
		for (size_t at = ranges->leaves.data[leaf]->count; at-- > 0;)
			if (over(arg, &ranges->leaves.data[leaf]->ranges[at]))
				ranges_end(ranges, (struct range_place){ leaf, at });
	return before - ranges->count;
}

void ranges_insert(struct ranges *ranges, uint64_t start, uint64_t size, void *value)
{
	ranges->replaced += ranges_remove_within(ranges, start, size ? size : 1);
	ranges_put(ranges, &(struct range){ .start = start, .size = size, .value = value });
}

bool ranges_remove(struct ranges *ranges, uint64_t start)
{
	struct range_place place;

	if (!find_until(ranges, start, &place) || range_at(ranges, place)->start != start)
		return false;
	ranges_end(ranges, place);
	return true;
}

const struct range *ranges_find(const struct ranges *ranges, uint64_t address)
{
	const struct range *range;
	struct range_place place;

	if (!find_until(ranges, address, &place))
		return NULL;
	range = range_at(ranges, place);
	return !range->size || address <= last_byte(range) ? range : NULL;
}
