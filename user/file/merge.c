// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <string.h>

#include "file/merge.h"
#include "file/sort.h"

/* Records are read in order of time but lie in order of context: fetched this far ahead. */
#define AHEAD 8

static int by_first_ts(const void *a, const void *b, void *arg)
{
	const struct chunk_ref *chunks = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (chunks[x].head.min_ts != chunks[y].head.min_ts)
		return chunks[x].head.min_ts < chunks[y].head.min_ts ? -1 : 1;
	return x < y ? -1 : x > y;
}

int merge_init(struct merge *merge, struct loader *loader, const struct scan *scan)
{
	uint32_t i;

	memset(merge, 0, sizeof(*merge));
	merge->loader = loader;
	merge->chunks = scan->chunks.data;
	merge->decoder = decoder_new();
	if (!merge->decoder)
		return -ENOMEM;
	for (i = 0; i < scan->chunks.len; i++)
		if (merge->chunks[i].head.type == CHUNK_RECORDS && merge->chunks[i].head.records)
			vec_push(&merge->order, i);
	if (merge->order.len)
		qsort_r(merge->order.data, merge->order.len, sizeof(merge->order.data[0]),
			by_first_ts, (void *)(uintptr_t)merge->chunks);
	return 0;
}

static void run_free(struct run *run)
{
	vec_release(&run->read);
	vec_release(&run->spare);
	vec_release(&run->data);
	free(run);
}

void merge_release(struct merge *merge)
{
	size_t i;

	for (i = 0; i < merge->heap.len; i++)
		run_free(merge->heap.data[i]);
	for (i = 0; i < merge->idle.len; i++)
		run_free(merge->idle.data[i]);
	vec_release(&merge->heap);
	vec_release(&merge->idle);
	vec_release(&merge->order);
	decoder_free(merge->decoder);
}

static bool before(const struct run *a, const struct run *b)
{
	return a->ts != b->ts ? a->ts < b->ts : a->chunk < b->chunk;
}

static void sift_down(struct merge *merge, size_t i)
{
	struct run **heap = merge->heap.data, *moved = heap[i];
	size_t n = merge->heap.len, child;

	for (child = 2 * i + 1; child < n; child = 2 * i + 1) {
		if (child + 1 < n && before(heap[child + 1], heap[child]))
			child++;
		if (!before(heap[child], moved))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = moved;
}

static void heap_add(struct merge *merge, struct run *run)
{
	struct run **heap;
	size_t i = merge->heap.len;

	vec_push(&merge->heap, run);
	for (heap = merge->heap.data; i && before(run, heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = run;
}

/* Fills a run from its chunk; 0, -EBADMSG for a damaged chunk, or -errno. */
static int run_load(struct merge *merge, struct run *run, uint32_t chunk)
{
	const struct chunk_ref *ref = &merge->chunks[chunk];
	int error = loader_read(merge->loader, ref);
	long size, n;

	if (error)
		return error;
	size = decoder_open(merge->decoder, ref->head.records, merge->loader->raw.data,
			    ref->head.raw_size);
	if (size < 0)
		return (int)size;
	vec_reserve(&run->data, (size_t)size);
	vec_reserve(&run->read, ref->head.records);
	vec_reserve(&run->spare, ref->head.records);
	n = decoder_run(merge->decoder, run->data.data, run->read.data);
	if (n < 0)
		return (int)n;
	run->rows = rows_sort(run->read.data, run->spare.data, (size_t)n);
	run->read.len = (size_t)n;
	run->chunk = chunk;
	run->at = 0;
	run->ts = n ? run->rows[0].ts : 0;
	/* The order was made from the headers. */
	return n && run->ts < ref->head.min_ts ? -EBADMSG : 0;
}

static int load_next(struct merge *merge)
{
	uint32_t chunk = merge->order.data[merge->next++];
	const struct chunk_header *head = &merge->chunks[chunk].head;
	struct run *run;
	int error;

	run = merge->idle.len ? merge->idle.data[--merge->idle.len] : calloc(1, sizeof(*run));
	if (!run)
		return -ENOMEM;
	error = run_load(merge, run, chunk);
	if (!error && run->read.len) {
		heap_add(merge, run);
		return 0;
	}
	vec_push(&merge->idle, run);
	if (error == -EBADMSG)
		merge->damaged += (uint64_t)head->header_size + head->stored_size;
	return error == -EBADMSG ? 0 : error;
}

/* Moves on from the record that was handed out last. */
static void advance(struct merge *merge)
{
	struct run *run = merge->heap.data[0];

	merge->given = false;
	if (++run->at < run->read.len) {
		run->ts = run->rows[run->at].ts;
	} else {
		vec_push(&merge->idle, run);
		merge->heap.data[0] = merge->heap.data[--merge->heap.len];
	}
	if (merge->heap.len)
		sift_down(merge, 0);
}

int merge_next(struct merge *merge, const struct ub_hdr **record)
{
	const struct run *run;
	int error;

	if (merge->given)
		advance(merge);
	while (merge->next < merge->order.len) {
		uint32_t chunk = merge->order.data[merge->next];

		if (merge->heap.len && merge->chunks[chunk].head.min_ts > merge->heap.data[0]->ts)
			break;
		error = load_next(merge);
		if (error)
			return error;
	}
	if (!merge->heap.len)
		return 0;
	run = merge->heap.data[0];
	*record = (const struct ub_hdr *)(run->data.data + run->rows[run->at].offset);
	if (run->at + AHEAD < run->read.len)
		__builtin_prefetch(run->data.data + run->rows[run->at + AHEAD].offset);
	merge->given = true;
	return 1;
}
