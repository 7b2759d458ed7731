// SPDX-License-Identifier: BSD-3-Clause
#include "explain/memory/evidence.h"

#include <stdlib.h>

void evidence_release(struct memory_evidence *evidence)
{
	for (size_t i = 0; i < evidence->looks.len; i++) {
		vec_release(&evidence->looks.data[i]->ranges);
		vec_release(&evidence->looks.data[i]->regions);
		free(evidence->looks.data[i]);
	}
	vec_release(&evidence->looks);
	vec_release(&evidence->changes);
	vec_release(&evidence->made);
	vec_release(&evidence->ends);
}

struct evidence_look *evidence_look_add(struct memory_evidence *evidence, uint64_t ts,
					const void *by)
{
	struct evidence_look *look = calloc(1, sizeof(*look));

	if (!look)
		abort();
	look->ts = ts;
	look->by = by;
	look->only_device = -1;
	vec_push(&evidence->looks, look);
	return look;
}

void evidence_change_add(struct memory_evidence *evidence, uint64_t ts, uint64_t start,
			 uint64_t size)
{
	vec_push(&evidence->changes, ((struct evidence_change){ ts, start, size }));
}

void evidence_end_add(struct memory_evidence *evidence, uint64_t ts)
{
	vec_push(&evidence->ends, ts);
}

void evidence_joined(struct memory_evidence *evidence, const void *by, int device)
{
	evidence->joined_by = by;
	evidence->joined_device = device;
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int look_by_time(const void *left, const void *right)
{
	return compare((*(struct evidence_look *const *)left)->ts,
		       (*(struct evidence_look *const *)right)->ts);
}

static int change_by_time(const void *left, const void *right)
{
	return compare(((const struct evidence_change *)left)->ts,
		       ((const struct evidence_change *)right)->ts);
}

static int range_by_start(const void *left, const void *right)
{
	return compare(((const struct evidence_range *)left)->start,
		       ((const struct evidence_range *)right)->start);
}

/* All places where memory was made or ended, at whatever time. */
static void list_made(struct memory_evidence *evidence)
{
	size_t kept = 0;

	for (size_t i = 0; i < evidence->changes.len; i++) {
		const struct evidence_change *change = &evidence->changes.data[i];
		uint64_t end = change->start + (change->size ? change->size : 1);

		if (change->size == UINT64_MAX)
			continue;
		vec_push(&evidence->made,
			 ((struct evidence_range){ change->start, end, EVIDENCE_RESERVED }));
	}
	if (evidence->made.len)
		qsort(evidence->made.data, evidence->made.len, sizeof(*evidence->made.data),
		      range_by_start);
	for (size_t i = 1; i < evidence->made.len; i++) {
		struct evidence_range *last = &evidence->made.data[kept];
		const struct evidence_range *next = &evidence->made.data[i];

		if (next->start > last->end)
			evidence->made.data[++kept] = *next;
		else if (next->end > last->end)
			last->end = next->end;
	}
	evidence->made.len = evidence->made.len ? kept + 1 : 0;
}

void evidence_ready(struct memory_evidence *evidence)
{
	if (evidence->looks.len)
		qsort(evidence->looks.data, evidence->looks.len, sizeof(*evidence->looks.data),
		      look_by_time);
	if (evidence->changes.len)
		qsort(evidence->changes.data, evidence->changes.len,
		      sizeof(*evidence->changes.data), change_by_time);
	list_made(evidence);
}

void evidence_distrust(struct memory_evidence *evidence, const void *by)
{
	for (size_t i = 0; i < evidence->looks.len; i++)
		if (evidence->looks.data[i]->by == by)
			evidence->looks.data[i]->regions.len = 0;
	evidence->distrusted = by;
}
