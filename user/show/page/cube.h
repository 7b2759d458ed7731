/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of facts with the same key, size class and bucket of start time. A key is a combination of
 * codes; words are coded by numbers. When there are too many sums, time is coarsened, then columns
 * are dropped in the order of a table: totals never change.
 */
#ifndef UCXBPF_PAGE_CUBE_H
#define UCXBPF_PAGE_CUBE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/rowset.h"
#include "base/strings.h"
#include "base/vec.h"
#include "explain/facts/columns.h"
#include "show/page/timeline.h"

#define PAGE_WORDS_RECENT 256

/* Numbers words from 1, equal texts alike; 0 means no word. */
struct page_words {
	struct strings texts; /* text of number n at n - 1 */
	struct map by_pointer; /* to numbers */
	struct {
		const char *text;
		uint32_t number;
	} recent[PAGE_WORDS_RECENT];
};

void page_words_release(struct page_words *words);

/* The texts seen so far may be freed, and others may have their addresses. Numbers stay. */
void page_words_forget(struct page_words *words);

/* text must keep its address and content until page_words_forget(). */
uint32_t page_word(struct page_words *words, const char *text);

/* The tables of sums, each with its own columns. */
enum page_sort { PAGE_CALLS, PAGE_OPS, PAGE_TRANSFERS, PAGE_MESSAGES, PAGE_SORTS };

/* The first three are common to all facts, the next five to those that have a duration. */
enum page_sum {
	SUM_COUNT,
	SUM_BYTES,
	SUM_BYTES_UNKNOWN,
	SUM_TIMED,
	SUM_TIME,
	SUM_EXACT, /* of the timed ones, those whose time is exact */
	SUM_EXACT_TIME,
	SUM_EXACT_BYTES,
	SUM_OPS, /* of calls */
	SUM_WAITED, /* of calls: ns */
	SUM_OPS_UNKNOWN, /* calls during which no operations were recorded */
	SUM_ERRORS = SUM_OPS, /* of operations */
	SUM_UNCHECKED,
	SUM_WIRE_BYTES = SUM_OPS, /* of transfers */
	SUM_RETRIES,
	SUM_UNEXPLAINED,
	SUM_COPIES = SUM_OPS, /* of messages */
	SUM_COPY_BYTES,
	PAGE_SUMS = SUM_UNEXPLAINED + 1
};

struct page_shape {
	const char *name; /* section name */
	const char *sums[PAGE_SUMS]; /* names of its sums, NULL: not one of them */
};

extern const struct page_shape page_shapes[PAGE_SORTS];

/*
 * Keys that no fact has: the set of kinds that it caused (causes.h), for messages one by the send
 * and one by the receive.
 */
enum page_only_key { PAGE_CAUSES = FACT_KEYS, PAGE_RECV_CAUSES, PAGE_KEYS };

struct page_key {
	uint32_t code[PAGE_KEYS]; /* 0 for columns that the table does not have */
};

/* The name of a key's column. */
const char *page_key_name(int key);

/* The combinations of codes that occur, numbered from 0. */
struct page_keys {
	VEC(struct page_key) rows;
	struct rowset index;
};

struct page_sums {
	uint64_t of[PAGE_SUMS];
	uint8_t precisions; /* bit set of the enum fact_precision values seen */
};

struct page_cell {
	uint64_t time; /* (start >> shift) + 1; 0: start unknown */
	struct page_sums sums;
	uint32_t key;
	uint8_t size;
};

struct page_cells {
	struct page_keys keys;
	VEC(uint32_t) alias; /* by key: the key that its sums go to */
	VEC(struct page_cell) cells;
	struct map index; /* (key and size, time) -> position + 1 */
};

struct page_cube {
	struct page_cells of[PAGE_SORTS];
	const struct fact_column
		*columns[PAGE_SORTS][FACT_KEYS]; /* NULL: the table does not have it */
	const struct page_hosts *hosts;
	unsigned int shift; /* buckets are 2^shift ns wide */
	unsigned int merged[PAGE_SORTS]; /* bit sets of dropped keys */
	bool merged_size;
	size_t limit; /* most cells over all tables */
};

void page_cube_init(struct page_cube *cube, const struct page_hosts *hosts, size_t limit);
void page_cube_release(struct page_cube *cube);

/* To be called before facts are added: keys then include causes, which else count as dropped. */
void page_cube_know_causes(struct page_cube *cube);

/* The keys of a table, as a bit set. */
unsigned int page_cube_keyed(const struct page_cube *cube, enum page_sort sort);

/*
 * Adds to the sums of a key. start: ns, 0 unknown; size: from page_size(). Returns the number of
 * the full key, dropped columns included, as single events refer to it.
 */
uint32_t page_cube_add(struct page_cube *cube, enum page_sort sort, const struct page_key *key,
		       uint64_t start, uint8_t size, const struct page_sums *sums);

/* Size class: 0: UINT64_MAX, unknown; 1: 0 bytes; n: 2^(n-2) to 2^(n-1) - 1. */
uint8_t page_size(uint64_t bytes);

size_t page_cube_cells(const struct page_cube *cube);
size_t page_cube_keys(const struct page_cube *cube);

/* Coarsens by one step; false: there is no further step. */
bool page_cube_coarsen(struct page_cube *cube);

/* Sorts by key, time and size. Frees the index: nothing can be added afterwards. */
void page_cube_sort(struct page_cube *cube);

#endif
