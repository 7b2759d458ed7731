/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of facts that are alike in their key, their size and the time in which they began. When
 * there are too many sums time is made coarser, then columns are given up, by a table of steps:
 * what is summed up stays the same.
 */
#ifndef UCXBPF_PAGE_CUBE_H
#define UCXBPF_PAGE_CUBE_H

#include <stdbool.h>

#include "base/map.h"
#include "show/page/hosts.h"
#include "show/page/keys.h"

struct page_sums {
	uint64_t of[PAGE_SUMS];
	uint8_t precisions; /* bit set of enum fact_precision met */
};

struct page_cell {
	uint64_t time; /* start >> shift, plus 1; 0: of no known time */
	struct page_sums sums;
	uint32_t key;
	uint8_t size;
};

struct page_cells {
	struct page_keys keys;
	VEC(uint32_t) alias; /* the key that sums go to, by key */
	VEC(struct page_cell) cells;
	struct map index; /* (key and size, time) -> position + 1 */
};

struct page_cube {
	struct page_cells of[PAGE_SORTS];
	const struct page_hosts *hosts;
	unsigned int shift; /* buckets are 2^shift ns wide */
	unsigned int merged[PAGE_SORTS]; /* bit sets of enum page_column that were given up */
	bool merged_size;
	size_t limit; /* of cells, over all sorts */
};

void page_cube_init(struct page_cube *cube, const struct page_hosts *hosts, size_t limit);
void page_cube_release(struct page_cube *cube);

/*
 * Adds to the sums of a key. start: ns, 0 unknown; size: of page_size(). Returns the key's number,
 * whatever has been given up: single events go by it.
 */
uint32_t page_cube_add(struct page_cube *cube, enum page_sort sort, const struct page_key *key,
		       uint64_t start, uint8_t size, const struct page_sums *sums);

/* Class of a length: 0: UINT64_MAX, unknown; 1: none; n: 2^(n-2) to 2^(n-1) - 1. */
uint8_t page_size(uint64_t bytes);

size_t page_cube_cells(const struct page_cube *cube);
size_t page_cube_keys(const struct page_cube *cube);

/* One step coarser; false: there is none. */
bool page_cube_coarsen(struct page_cube *cube);

/* By key, time and size; the index is gone: nothing can be added any more. */
void page_cube_sort(struct page_cube *cube);

#endif
