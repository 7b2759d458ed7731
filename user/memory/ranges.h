/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What lies where in one address space now: ranges that do not overlap, by address. Time is the
 * caller's matter: changes are made in the order in which they happened. A failed allocation ends
 * the program, see base/vec.h.
 */
#ifndef UCXBPF_MEMORY_RANGES_H
#define UCXBPF_MEMORY_RANGES_H

#include <bsd/sys/tree.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
	RB_ENTRY(range) link;
	uint64_t start;
	uint64_t size; /* bytes; 0 = not told: it reaches to the next range's start */
	void *value; /* the caller's */
};

RB_HEAD(range_tree, range);

/* A zeroed struct ranges is an empty one. */
struct ranges {
	struct range_tree tree;
	size_t count;
	size_t open; /* of these, those whose size was not told */
	uint64_t replaced; /* those that ended because another one took their place */
	void (*ended)(void *arg, const struct range *range); /* for every one; NULL: nobody asks */
	void *arg;
};

/* Ends all of them. */
void ranges_clear(struct ranges *ranges);

/* What it overlaps has ended before, unseen. Where size was not told, its first byte counts. */
void ranges_insert(struct ranges *ranges, uint64_t start, uint64_t size, void *value);

/* Ends the range that begins there; false: none does. */
bool ranges_remove(struct ranges *ranges, uint64_t start);

/* Ends all that lies in there, if only in part; returns how many. */
size_t ranges_remove_within(struct ranges *ranges, uint64_t start, uint64_t size);

/* The range that an address lies in; NULL: none. Valid until the next change. */
const struct range *ranges_find(struct ranges *ranges, uint64_t address);

#endif
