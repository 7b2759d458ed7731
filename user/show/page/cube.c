// SPDX-License-Identifier: BSD-3-Clause
#include "show/page/cube.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

void page_words_release(struct page_words *words)
{
	strings_release(&words->texts);
	map_release(&words->by_pointer);
}

void page_words_forget(struct page_words *words)
{
	map_release(&words->by_pointer);
	memset(words->recent, 0, sizeof(words->recent));
}

uint32_t page_word(struct page_words *words, const char *text)
{
	size_t at = ((uintptr_t)text >> 4 ^ (uintptr_t)text >> 12) % PAGE_WORDS_RECENT;
	uint64_t *number;
	bool fresh;

	if (!text)
		return 0;
	if (words->recent[at].text == text)
		return words->recent[at].number;
	number = map_insert(&words->by_pointer, (uintptr_t)text, 0, &fresh);
	if (fresh)
		*number = strings_number(&words->texts, text) + 1;
	words->recent[at].text = text;
	words->recent[at].number = (uint32_t)*number;
	return (uint32_t)*number;
}

#define BIT(column) (1u << KEY_##column)
#define CAUSES (1u << PAGE_CAUSES | 1u << PAGE_RECV_CAUSES)

const char *page_key_name(int key)
{
	static const char *const own[] = { "causes", "recv_causes" };

	return key < FACT_KEYS ? fact_key_names[key] : own[key - FACT_KEYS];
}

#define OF_ALL [SUM_COUNT] = "count", [SUM_BYTES] = "bytes", [SUM_BYTES_UNKNOWN] = "bytes_unknown"
#define OF_SPANS                                                                                   \
	[SUM_TIMED] = "timed", [SUM_TIME] = "time_sum", [SUM_EXACT] = "exact",                     \
	[SUM_EXACT_TIME] = "exact_time_sum", [SUM_EXACT_BYTES] = "exact_bytes"

const struct page_shape page_shapes[PAGE_SORTS] = {
	[PAGE_CALLS] = { "calls",
			 { OF_ALL, OF_SPANS, [SUM_OPS] = "ops", [SUM_WAITED] = "waited",
			   [SUM_OPS_UNKNOWN] = "ops_unknown" } },
	[PAGE_OPS] = { "ops",
		       { OF_ALL,
			 OF_SPANS, [SUM_ERRORS] = "errors", [SUM_UNCHECKED] = "unchecked" } },
	[PAGE_TRANSFERS] = { "transfers",
			     { OF_ALL,
			       OF_SPANS, [SUM_WIRE_BYTES] = "wire_bytes", [SUM_RETRIES] = "retries",
			       [SUM_UNEXPLAINED] = "unexplained_bytes" } },
	[PAGE_MESSAGES] = { "messages",
			    { OF_ALL, [SUM_COPIES] = "copies", [SUM_COPY_BYTES] = "copy_bytes" } },
};

static void page_keys_release(struct page_keys *keys)
{
	vec_release(&keys->rows);
	rowset_release(&keys->index);
}

/* The number of this combination, added if it is new. */
static uint32_t page_key_of(struct page_keys *keys, const struct page_key *key)
{
	const struct page_key copy = *key; /* it may point into the rows */
	size_t n = rowset_add(&keys->index, ROWSET_ROWS(&keys->rows, sizeof(copy)), &copy);

	if (n == keys->rows.len)
		vec_push(&keys->rows, copy);
	return (uint32_t)n;
}

#define FINEST_SHIFT 10 /* about a microsecond */
#define MOST_BUCKETS 2048 /* more than the columns of a screen */

static void find_columns(struct page_cube *cube, enum page_sort sort)
{
	static const enum fact_type types[PAGE_SORTS] = { FACT_CALL, FACT_OP, FACT_TRANSFER,
							  FACT_MESSAGE };
	const struct fact_column *column = fact_infos[types[sort]].columns;

	for (; column->name; column++)
		if (column->key != FACT_KEYS)
			cube->columns[sort][column->key] = column;
}

unsigned int page_cube_keyed(const struct page_cube *cube, enum page_sort sort)
{
	static const unsigned int own[PAGE_SORTS] = {
		[PAGE_CALLS] = 1u << PAGE_CAUSES,
		[PAGE_OPS] = 1u << PAGE_CAUSES,
		[PAGE_TRANSFERS] = BIT(SRC) | BIT(DST), /* by the operation */
		[PAGE_MESSAGES] = CAUSES,
	};
	unsigned int keys = own[sort];

	for (int i = 0; i < FACT_KEYS; i++)
		if (cube->columns[sort][i])
			keys |= 1u << i;
	return keys;
}

void page_cube_init(struct page_cube *cube, const struct page_hosts *hosts, size_t limit)
{
	*cube = (struct page_cube){ .hosts = hosts, .shift = FINEST_SHIFT, .limit = limit };
	for (int i = 0; i < PAGE_SORTS; i++) {
		find_columns(cube, i);
		cube->merged[i] = CAUSES & page_cube_keyed(cube, i);
	}
}

void page_cube_know_causes(struct page_cube *cube)
{
	for (int i = 0; i < PAGE_SORTS; i++)
		cube->merged[i] &= ~CAUSES;
}

void page_cube_release(struct page_cube *cube)
{
	for (int i = 0; i < PAGE_SORTS; i++) {
		page_keys_release(&cube->of[i].keys);
		vec_release(&cube->of[i].alias);
		vec_release(&cube->of[i].cells);
		map_release(&cube->of[i].index);
	}
}

uint8_t page_size(uint64_t bytes)
{
	if (bytes == UINT64_MAX)
		return 0;
	return bytes ? (uint8_t)(65 - __builtin_clzll(bytes)) : 1;
}

size_t page_cube_cells(const struct page_cube *cube)
{
	size_t cells = 0;

	for (int i = 0; i < PAGE_SORTS; i++)
		cells += cube->of[i].cells.len;
	return cells;
}

size_t page_cube_keys(const struct page_cube *cube)
{
	size_t keys = 0;

	for (int i = 0; i < PAGE_SORTS; i++)
		keys += cube->of[i].keys.rows.len;
	return keys;
}

/* Sums go to the key without the columns that were dropped, which may be a new key. */
static uint32_t alias_of(const struct page_cube *cube, struct page_cells *cells, uint32_t number)
{
	unsigned int merged = cube->merged[cells - cube->of];
	struct page_key key = cells->keys.rows.data[number];

	for (int i = 0; i < PAGE_KEYS; i++)
		if (merged >> i & 1)
			key.code[i] = 0;
	return page_key_of(&cells->keys, &key);
}

static void alias_new_keys(const struct page_cube *cube, struct page_cells *cells)
{
	while (cells->alias.len < cells->keys.rows.len) {
		uint32_t alias = alias_of(cube, cells, cells->alias.len);

		vec_push(&cells->alias, alias);
	}
}

static struct page_cell *cell_at(struct page_cells *cells, uint32_t key, uint8_t size,
				 uint64_t time)
{
	bool fresh;
	uint64_t *at = map_insert(&cells->index, (uint64_t)key << 8 | size, time, &fresh);
	struct page_cell *cell;

	if (!fresh)
		return &cells->cells.data[*at - 1];
	cell = vec_add(&cells->cells);
	cell->key = key;
	cell->size = size;
	cell->time = time;
	*at = cells->cells.len;
	return cell;
}

static void sums_add(struct page_sums *to, const struct page_sums *from)
{
	for (int i = 0; i < PAGE_SUMS; i++)
		to->of[i] += from->of[i];
	to->precisions |= from->precisions;
}

/* Sums up all cells again under the current aliases, with time coarsened by so many halvings. */
static void rebuild(struct page_cells *cells, unsigned int halvings, bool merge_size)
{
	size_t count = cells->cells.len;

	map_release(&cells->index);
	cells->cells.len = 0;
	for (size_t i = 0; i < count; i++) {
		const struct page_cell old =
			cells->cells.data[i]; /* never a cell that was already rewritten */
		uint64_t time = old.time ? ((old.time - 1) >> halvings) + 1 : 0;

		sums_add(
			&cell_at(cells, cells->alias.data[old.key], merge_size ? 0 : old.size, time)
				 ->sums,
			&old.sums);
	}
}

static void coarsen_time(struct page_cube *cube)
{
	cube->shift++;
	for (int i = 0; i < PAGE_SORTS; i++)
		rebuild(&cube->of[i], 1, cube->merged_size);
}

static void give_up(struct page_cube *cube, unsigned int columns, unsigned int sorts, bool size)
{
	cube->merged_size = cube->merged_size || size;
	for (int i = 0; i < PAGE_SORTS; i++) {
		if (sorts >> i & 1)
			cube->merged[i] |= columns & page_cube_keyed(cube, i);
		cube->of[i].alias.len = 0;
		alias_new_keys(cube, &cube->of[i]);
		rebuild(&cube->of[i], 0, cube->merged_size);
	}
}

/* Whether these tables still have one of the columns. */
static bool has_any(const struct page_cube *cube, unsigned int columns, unsigned int sorts)
{
	for (int i = 0; i < PAGE_SORTS; i++)
		if (sorts >> i & 1 && columns & page_cube_keyed(cube, i) & ~cube->merged[i])
			return true;
	return false;
}

#define ALL ((1u << PAGE_SORTS) - 1)

/* Detail to drop, the least useful first. */
static const struct {
	uint64_t buckets; /* coarsen time down to so many; 0: not a step in time */
	unsigned int columns, sorts;
	bool size;
} steps[] = {
	{ .buckets = 64 },
	{ .columns = BIT(PLACE), .sorts = ALL },
	{ .columns = BIT(MEMORY_REASON) | BIT(MEMORY_KNOWN_BY) | BIT(SRC_REASON) | BIT(DST_REASON) |
		     BIT(CHAIN_REASON),
	  .sorts = ALL },
	{ .columns = BIT(PEER), .sorts = 1u << PAGE_OPS }, /* transfers have it, too */
	{ .buckets = 16 },
	{ .size = true },
	{ .buckets = 1 },
	{ .columns = CAUSES, .sorts = ALL },
	{ .columns = BIT(CHAIN) | BIT(VIA), .sorts = ALL },
	{ .columns = BIT(DEVICE), .sorts = ALL },
	{ .columns = BIT(PROTOCOL), .sorts = ALL },
	{ .columns = BIT(PEER) | BIT(SRC) | BIT(DST), .sorts = ALL },
	{ .columns = BIT(UCP_OP) | BIT(DATA_PATH) | BIT(INITIATOR), .sorts = ALL },
	{ .columns = BIT(FUNCTION), .sorts = ALL },
	{ .columns = BIT(PROCESS), .sorts = ALL },
};

bool page_cube_coarsen(struct page_cube *cube)
{
	uint64_t buckets = page_hosts_buckets(cube->hosts, cube->shift);

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		if (steps[i].buckets && buckets > steps[i].buckets) {
			coarsen_time(cube);
			return true;
		}
		if (has_any(cube, steps[i].columns, steps[i].sorts) ||
		    (steps[i].size && !cube->merged_size)) {
			give_up(cube, steps[i].columns, steps[i].sorts, steps[i].size);
			return true;
		}
	}
	return false;
}

uint32_t page_cube_add(struct page_cube *cube, enum page_sort sort, const struct page_key *key,
		       uint64_t start, uint8_t size, const struct page_sums *sums)
{
	struct page_cells *cells = &cube->of[sort];
	uint32_t number = page_key_of(&cells->keys, key);

	alias_new_keys(cube, cells);
	while (page_hosts_exceed(cube->hosts, cube->shift, MOST_BUCKETS))
		coarsen_time(cube);
	sums_add(&cell_at(cells, cells->alias.data[number], cube->merged_size ? 0 : size,
			  start ? (start >> cube->shift) + 1 : 0)
			  ->sums,
		 sums);
	while (page_cube_cells(cube) > cube->limit && page_cube_coarsen(cube))
		;
	return number;
}

static int by_place(const void *left, const void *right)
{
	const struct page_cell *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->size > b->size) - (a->size < b->size);
}

void page_cube_sort(struct page_cube *cube)
{
	for (int i = 0; i < PAGE_SORTS; i++) {
		struct page_cells *cells = &cube->of[i];

		map_release(&cells->index);
		if (cells->cells.len)
			qsort(cells->cells.data, cells->cells.len, sizeof(*cells->cells.data),
			      by_place);
	}
}
