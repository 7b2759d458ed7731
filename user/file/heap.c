// SPDX-License-Identifier: BSD-3-Clause
#include "file/heap.h"

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
	struct run *heap = merge->heap.data, moved;
	size_t i = 0, n = merge->heap.len, child;

	if (!n)
		return;
	moved = heap[0];
	for (child = 1; child < n; child = 2 * i + 1) {
		if (child + 1 < n && before(&heap[child + 1], &heap[child]))
			child++;
		if (!before(&heap[child], &moved))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = moved;
}
