/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The present memory of one address space: ranges that do not overlap, by address. Time is up to
 * the caller: changes are made in the order in which they happened. A failed allocation ends the
 * program, see base/vec.h.
 *
 * Kept in leaves of up to RANGE_LEAF ranges, the leaves in one array by their first address: a
 * look-up among a million goes through two short sorted arrays of addresses, and then to one range.
 */
#ifndef UCXBPF_MEMORY_RANGES_H
#define UCXBPF_MEMORY_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct range {
	uint64_t start;
	uint64_t size; /* bytes; 0 = unknown: it reaches to the next range's start */
	void *value; /* the caller's */
};

#define RANGE_LEAF 128

struct range_leaf {
	uint64_t starts[RANGE_LEAF]; /* as in ranges[], kept apart for the search */
	struct range ranges[RANGE_LEAF];
	size_t count; /* at least 1 */
};

/* A zeroed struct ranges is an empty one. */
struct ranges {
	VEC(uint64_t) firsts; /* the first address of each leaf */
	VEC(struct range_leaf *) leaves;
	size_t count;
	size_t open; /* of these, those of unknown size */
	uint64_t replaced; /* ranges that ended because another one took their place */
	void (*ended)(void *arg, const struct range *range); /* called for each; NULL: not called */
	void *arg;
};

/* Ends all of them. */
void ranges_clear(struct ranges *ranges);

/* Overlapped ranges have ended before, unseen. With an unknown size only the first byte counts. */
void ranges_insert(struct ranges *ranges, uint64_t start, uint64_t size, void *value);

/* Ends the range that begins there; false: none does. */
bool ranges_remove(struct ranges *ranges, uint64_t start);

/* Ends all ranges in there, even if partly; returns how many. */
size_t ranges_remove_within(struct ranges *ranges, uint64_t start, uint64_t size);

/* Ends all ranges that fn selects; returns how many. Visits every one. */
size_t ranges_remove_where(struct ranges *ranges,
			   bool (*over)(const void *arg, const struct range *range),
			   const void *arg);

/* The range that an address lies in; NULL: none. Valid until the next change. */
const struct range *ranges_find(const struct ranges *ranges, uint64_t address);

#endif
