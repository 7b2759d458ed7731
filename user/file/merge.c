// SPDX-License-Identifier: BSD-3-Clause
#include "file/merge.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"

/* Three passes over 11 bits order the records of two seconds. */
#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

static bool is_sorted(const struct merge_row *rows, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (rows[i].ts < rows[i - 1].ts)
			return false;
	return true;
}

static void sort_digit(const struct merge_row *from, struct merge_row *to, size_t n, uint64_t min,
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

/*
 * Sorts rows by ts; rows of equal ts keep their order. spare: room for n rows. Returns where the
 * result is: rows or spare.
 */
static struct merge_row *rows_sort(struct merge_row *rows, struct merge_row *spare, size_t n)
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
		struct merge_row *sorted = spare;

		sort_digit(rows, sorted, n, min, shift);
		spare = rows;
		rows = sorted;
	}
	return rows;
}

static int by_first_ts(const void *a, const void *b)
{
	const struct merge_due *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->chunk < y->chunk ? -1 : x->chunk > y->chunk;
}

int merge_init(struct merge *merge, struct loader *loader, const struct chunk_scan *scan)
{
	uint32_t i;

	memset(merge, 0, sizeof(*merge));
	merge->loader = loader;
	merge->chunks = scan->chunks.data;
	merge->decoder = decoder_new();
	if (!merge->decoder)
		return -ENOMEM;
	for (i = 0; i < scan->chunks.len; i++) {
		const struct chunk_header *head = &merge->chunks[i].head;

		if (chunk_has_records(head) && head->records)
			vec_push(&merge->order, ((struct merge_due){ head->min_ts, i }));
	}
	if (merge->order.len)
		qsort(merge->order.data, merge->order.len, sizeof(merge->order.data[0]),
		      by_first_ts);
	return 0;
}

static void contents_free(struct contents *c)
{
	if (!c)
		return;
	vec_release(&c->rows);
	vec_release(&c->records);
	free(c);
}

void merge_release(struct merge *merge)
{
	size_t i;

	chunk_memory_return(&merge->memory, merge->memory.taken, merge->memory.stored);
	contents_free(merge->apart);
	for (i = 0; i < merge->loaded.len; i++)
		contents_free(merge->loaded.data[i].contents);
	for (i = 0; i < merge->idle.len; i++)
		contents_free(merge->idle.data[i]);
	vec_release(&merge->loaded);
	vec_release(&merge->idle);
	vec_release(&merge->order);
	vec_release(&merge->rows);
	vec_release(&merge->spare);
	decoder_free(merge->decoder);
	sorted_free(merge->sorted);
}

/* Bytes that the records of a chunk take, -EBADMSG or -ENOMEM. */
static long open_block(struct merge *merge, const struct chunk_header *head)
{
	const uint8_t *raw = merge->loader->raw.data;

	if (head->type == CHUNK_RECORDS)
		return decoder_open(merge->decoder, head->records, raw, head->raw_size);
	if (!merge->sorted)
		merge->sorted = sorted_new();
	return merge->sorted ? sorted_open(merge->sorted, head->records, raw, head->raw_size)
			     : -ENOMEM;
}

static uint64_t earliest(const block_rows *rows)
{
	uint64_t ts = UINT64_MAX;

	for (size_t i = 0; i < rows->len; i++)
		ts = rows->data[i].ts < ts ? rows->data[i].ts : ts;
	return ts;
}

/* Records in the order in which they lie there. 0, -EBADMSG for a damaged chunk, or -errno. */
static int contents_load(struct merge *merge, struct contents *c, uint32_t chunk, uint64_t whole)
{
	const struct chunk_ref *ref = &merge->chunks[chunk];
	uint32_t records = ref->head.records;
	int error = loader_read(merge->loader, ref);
	uint64_t size;
	long n;

	c->memory = c->stored = 0;
	if (error)
		return error;
	n = open_block(merge, &ref->head);
	if (n < 0)
		return (int)n;
	size = (uint64_t)n + records * (sizeof(struct block_row) + 2 * sizeof(struct merge_row));
	if (!chunk_memory_take(&merge->memory, size, chunk_size(&ref->head)))
		return -EBADMSG;
	c->memory = size;
	c->stored = chunk_size(&ref->head);
	/* a chunk of which no record is known has a place for them as well, of no bytes */
	vec_reserve(&c->records, (size_t)n + 1);
	vec_reserve(&c->rows, records);
	n = ref->head.type == CHUNK_RECORDS
		    ? decoder_run(merge->decoder, c->records.data, c->rows.data, whole)
		    : sorted_run(merge->sorted, c->records.data, c->rows.data);
	if (n < 0)
		return (int)n;
	c->rows.len = (size_t)n;
	/* The order of loading was made from the headers. */
	return earliest(&c->rows) < ref->head.min_ts ? -EBADMSG : 0;
}

static void let_go(struct merge *merge, struct contents *c)
{
	chunk_memory_return(&merge->memory, c->memory, c->stored);
	vec_push(&merge->idle, c);
}

/*
 * Loads a chunk, with the records of these kinds in full; *contents is NULL where it is damaged or
 * holds nothing that is known.
 */
static int load(struct merge *merge, uint32_t chunk, uint64_t whole, struct contents **contents)
{
	const struct chunk_header *head = &merge->chunks[chunk].head;
	struct contents *c;
	int error;

	*contents = NULL;
	c = merge->idle.len ? merge->idle.data[--merge->idle.len] : calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	error = contents_load(merge, c, chunk, whole);
	if (!error && c->rows.len) {
		*contents = c;
		return 0;
	}
	let_go(merge, c);
	if (error == -EBADMSG)
		merge->damaged += (uint64_t)head->header_size + head->stored_size;
	return error == -EBADMSG ? 0 : error;
}

/* A chunk whose next record comes after the start of so many others is put aside. */
#define ASIDE 8

static bool comes_much_later(const struct merge *merge, uint64_t ts)
{
	size_t later = merge->next + ASIDE;

	return later < merge->order.len && merge->order.data[later].ts < ts;
}

/* It is loaded again when the order reaches its next record. */
static void put_aside(struct merge *merge, const struct merge_run *run)
{
	struct merge_due *order = merge->order.data;
	const struct merge_due due = { run->next, run->chunk };
	size_t at = search_count(merge->order.len, i, by_first_ts(&order[i], &due) < 0);

	/* there is room before: it was taken off the order itself */
	merge->next--;
	memmove(&order[merge->next], &order[merge->next + 1],
		(at - merge->next - 1) * sizeof(*order));
	order[at - 1] = due;
}

/* Lets go of chunks that are read to their end, or far enough for now. */
static void settle_loaded(struct merge *merge)
{
	size_t kept = 0;

	for (size_t i = 0; i < merge->loaded.len; i++) {
		const struct merge_run run = merge->loaded.data[i];
		const bool left = run.contents->rows.len;
		const bool aside = left && comes_much_later(merge, run.next);

		if (left && !aside) {
			merge->loaded.data[kept++] = run;
			continue;
		}
		let_go(merge, run.contents);
		if (aside)
			put_aside(merge, &run);
	}
	merge->loaded.len = kept;
}

static int by_place(const void *a, const void *b)
{
	const struct merge_run *x = a, *y = b;

	return x->chunk < y->chunk ? -1 : x->chunk > y->chunk;
}

/*
 * Loads the next chunks: enough of them that the records of the others are not gone over again for
 * a few, and all that begin where the last window ended.
 */
static int load_due(struct merge *merge)
{
	uint64_t held = 0, fresh = 0;

	for (size_t i = 0; i < merge->loaded.len; i++)
		held += merge->loaded.data[i].contents->rows.len;
	while (merge->next < merge->order.len &&
	       (!fresh || fresh < held / 4 || merge->order.data[merge->next].ts <= merge->from)) {
		struct merge_run run = { .chunk = merge->order.data[merge->next++].chunk };
		int error = load(merge, run.chunk, DECODE_ALL, &run.contents);

		if (error)
			return error;
		if (!run.contents)
			continue;
		fresh += run.contents->rows.len;
		vec_push(&merge->loaded, run);
	}
	/* their places in the file decide between equal times */
	if (fresh)
		qsort(merge->loaded.data, merge->loaded.len, sizeof(*merge->loaded.data), by_place);
	return 0;
}

/* Takes the chunk's records of the window, those from merge->from to last, off its rows. */
static void take_window(struct merge *merge, struct merge_run *run, uint64_t last)
{
	const uint8_t *records = run->contents->records.data;
	block_rows *rows = &run->contents->rows;
	struct block_row *left = rows->data;
	struct merge_row *to;

	vec_reserve(&merge->rows, merge->rows.len + rows->len);
	to = merge->rows.data + merge->rows.len;
	run->next = UINT64_MAX;
	for (size_t i = 0; i < rows->len; i++) {
		const struct block_row row = rows->data[i];

		if (row.ts > last) {
			*left++ = row;
			run->next = row.ts < run->next ? row.ts : run->next;
		} else if (row.ts >= merge->from) {
			*to++ = (struct merge_row){ row.ts,
						    (const struct ub_hdr *)(records + row.offset) };
		}
	}
	rows->len = (size_t)(left - rows->data);
	merge->rows.len = (size_t)(to - merge->rows.data);
}

/* All records before the next chunk's first one, in order. 0 at the end, 1, or -errno. */
static int next_window(struct merge *merge)
{
	uint64_t last = UINT64_MAX;
	int error;

	merge->rows.len = merge->at = 0;
	settle_loaded(merge);
	error = load_due(merge);
	if (error)
		return error;
	if (merge->next < merge->order.len)
		last = merge->order.data[merge->next].ts - 1;
	for (size_t i = 0; i < merge->loaded.len; i++)
		take_window(merge, &merge->loaded.data[i], last);
	vec_reserve(&merge->spare, merge->rows.len);
	merge->sorted_rows = rows_sort(merge->rows.data, merge->spare.data, merge->rows.len);
	merge->from = last + 1;
	return merge->loaded.len != 0;
}

/* Records are read in order of time but lie in that of their rings: fetched this far ahead. */
#define AHEAD 8

int merge_next(struct merge *merge, const struct ub_hdr **record)
{
	while (merge->at == merge->rows.len) {
		int more = next_window(merge);

		if (more <= 0)
			return more;
	}
	*record = merge->sorted_rows[merge->at++].record;
	if (merge->at + AHEAD <= merge->rows.len) {
		const char *ahead = (const char *)merge->sorted_rows[merge->at + AHEAD - 1].record;

		__builtin_prefetch(ahead);
		__builtin_prefetch(ahead + 64);
	}
	return 1;
}

int merge_next_stored(struct merge *merge, const struct ub_hdr **record)
{
	struct contents *c = merge->apart;
	int error = 0;

	if (c && merge->at == c->rows.len) {
		let_go(merge, c);
		c = NULL;
	}
	while (!error && !c && merge->next < merge->order.len) {
		merge->at = 0;
		error = load(merge, merge->order.data[merge->next++].chunk, 1ull << UB_LOSS, &c);
	}
	merge->apart = c;
	if (error || !c)
		return error;
	*record = (const struct ub_hdr *)(c->records.data + c->rows.data[merge->at++].offset);
	return 1;
}
