// SPDX-License-Identifier: BSD-3-Clause
#include "file/heap.h"

#include "base/heap.h"

static bool before(const struct run *a, const struct run *b)
{
	return a->ts != b->ts ? a->ts < b->ts : a->chunk < b->chunk;
}

void heap_add(struct merge *merge, struct run run)
{
	size_t i = merge->heap.len;
	struct run *heap;

	vec_push(&merge->heap, run);
	for (heap = merge->heap.data; i && before(&run, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = run;
}

void heap_settle(struct merge *merge)
{
	if (merge->heap.len)
		heap_sink(merge->heap.data, merge->heap.len, 0, before);
}
