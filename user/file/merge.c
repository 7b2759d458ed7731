// SPDX-License-Identifier: BSD-3-Clause
#include "file/merge.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/order.h"

/* The heap of struct merge: the run with the earliest record is on top. */
static bool before(const struct merge_run *a, const struct merge_run *b)
{
	return a->ts != b->ts ? a->ts < b->ts : a->chunk < b->chunk;
}

static void heap_add(struct merge *merge, struct merge_run run)
{
	size_t i = merge->heap.len;
	struct merge_run *heap;

	vec_push(&merge->heap, run);
	for (heap = merge->heap.data; i && before(&run, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = run;
}

/* Restores the order after the top changed, or was replaced by the last run. */
static void heap_settle(struct merge *merge)
{
	if (merge->heap.len)
		heap_sink(merge->heap.data, merge->heap.len, 0, before);
}

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

/*
 * Sorts rows by ts; rows of equal ts keep their order. spare: room for n rows. Returns where the
 * result is: rows or spare.
 */
static struct block_row *rows_sort(struct block_row *rows, struct block_row *spare, size_t n)
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

/* Records are read in order of time but lie in that of their rings: fetched this far ahead. */
#define AHEAD 8

/* A run whose next record comes after the start of so many chunks still to be loaded is put aside.
 */
#define ASIDE 8

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
	vec_release(&c->read);
	vec_release(&c->spare);
	vec_release(&c->records);
	free(c);
}

void merge_release(struct merge *merge)
{
	size_t i;

	chunk_memory_return(&merge->memory, merge->memory.taken, merge->memory.stored);
	contents_free(merge->apart.contents);
	for (i = 0; i < merge->heap.len; i++)
		contents_free(merge->heap.data[i].contents);
	for (i = 0; i < merge->idle.len; i++)
		contents_free(merge->idle.data[i]);
	vec_release(&merge->heap);
	vec_release(&merge->idle);
	vec_release(&merge->order);
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

static uint64_t earliest(const struct block_row *rows, size_t n)
{
	uint64_t ts = UINT64_MAX;

	for (size_t i = 0; i < n; i++)
		ts = rows[i].ts < ts ? rows[i].ts : ts;
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
	size = (uint64_t)n + 2 * records * sizeof(struct block_row);
	if (!chunk_memory_take(&merge->memory, size, chunk_size(&ref->head)))
		return -EBADMSG;
	c->memory = size;
	c->stored = chunk_size(&ref->head);
	vec_reserve(&c->records, (size_t)n);
	vec_reserve(&c->read, records);
	vec_reserve(&c->spare, records);
	n = ref->head.type == CHUNK_RECORDS
		    ? decoder_run(merge->decoder, c->records.data, c->read.data, whole)
		    : sorted_run(merge->sorted, c->records.data, c->read.data);
	if (n < 0)
		return (int)n;
	c->n = (uint32_t)n;
	c->rows = c->read.data;
	/* The order of loading was made from the headers. */
	return earliest(c->rows, c->n) < ref->head.min_ts ? -EBADMSG : 0;
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
	if (!error && c->n) {
		*contents = c;
		return 0;
	}
	let_go(merge, c);
	if (error == -EBADMSG)
		merge->damaged += (uint64_t)head->header_size + head->stored_size;
	return error == -EBADMSG ? 0 : error;
}

static void in_order(struct contents *c)
{
	c->rows = rows_sort(c->read.data, c->spare.data, c->n);
}

static bool comes_much_later(const struct merge *merge, uint64_t ts)
{
	size_t later = merge->next + ASIDE;

	return later < merge->order.len && merge->order.data[later].ts < ts;
}

static void remove_top(struct merge *merge)
{
	merge->heap.data[0] = merge->heap.data[--merge->heap.len];
	heap_settle(merge);
}

/* Moves on from the record that was handed out last. */
static void advance(struct merge *merge)
{
	struct merge_run *run = &merge->heap.data[0];
	struct contents *c = run->contents;

	merge->given = false;
	if (++run->at == c->n) {
		let_go(merge, c);
		remove_top(merge);
		return;
	}
	run->ts = c->rows[run->at].ts;
	if (comes_much_later(merge, run->ts)) {
		let_go(merge, c);
		run->contents = NULL;
	}
	heap_settle(merge);
}

/* Whether the next chunk's first record comes before all that are loaded. */
static bool is_due(const struct merge *merge)
{
	const struct merge_run *top = merge->heap.data;
	const struct merge_due *due;

	if (merge->next == merge->order.len)
		return false;
	due = &merge->order.data[merge->next];
	return !merge->heap.len || due->ts < top->ts ||
	       (due->ts == top->ts && due->chunk < top->chunk);
}

static int load_due(struct merge *merge)
{
	while (is_due(merge)) {
		struct merge_run run = { .chunk = merge->order.data[merge->next++].chunk };
		int error = load(merge, run.chunk, DECODE_ALL, &run.contents);

		if (error)
			return error;
		if (!run.contents)
			continue;
		in_order(run.contents);
		run.ts = run.contents->rows[0].ts;
		heap_add(merge, run);
	}
	return 0;
}

/* Brings back the top's records if it was put aside; it is gone if the file changed meanwhile. */
static int recall_top(struct merge *merge)
{
	while (merge->heap.len && !merge->heap.data[0].contents) {
		struct merge_run *top = &merge->heap.data[0];
		int error = load(merge, top->chunk, DECODE_ALL, &top->contents);

		if (error)
			return error;
		if (top->contents)
			in_order(top->contents);
		if (top->contents && top->at < top->contents->n)
			break;
		if (top->contents)
			let_go(merge, top->contents);
		remove_top(merge);
	}
	return 0;
}

int merge_next(struct merge *merge, const struct ub_hdr **record)
{
	const struct contents *c;
	const struct merge_run *run;
	int error;

	if (merge->given)
		advance(merge);
	error = load_due(merge);
	if (!error)
		error = recall_top(merge);
	if (error)
		return error;
	if (!merge->heap.len)
		return 0;
	run = &merge->heap.data[0];
	c = run->contents;
	*record = (const struct ub_hdr *)(c->records.data + c->rows[run->at].offset);
	if (run->at + AHEAD < c->n) {
		const uint8_t *ahead = c->records.data + c->rows[run->at + AHEAD].offset;

		__builtin_prefetch(ahead);
		__builtin_prefetch(ahead + 64);
		__builtin_prefetch(&c->rows[run->at + 8 * AHEAD]);
	}
	merge->given = true;
	return 1;
}

int merge_next_stored(struct merge *merge, const struct ub_hdr **record)
{
	struct merge_run *run = &merge->apart;
	int error = 0;

	if (run->contents && ++run->at == run->contents->n) {
		let_go(merge, run->contents);
		run->contents = NULL;
	}
	while (!error && !run->contents && merge->next < merge->order.len) {
		*run = (struct merge_run){ .chunk = merge->order.data[merge->next++].chunk };
		error = load(merge, run->chunk, 1ull << UB_LOSS, &run->contents);
	}
	if (error || !run->contents)
		return error;
	*record = (const struct ub_hdr *)(run->contents->records.data +
					  run->contents->rows[run->at].offset);
	return 1;
}
