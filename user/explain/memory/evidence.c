// SPDX-License-Identifier: BSD-3-Clause
/* A process's memory at a time, by looks at its mappings. */
#include "explain/memory/evidence.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/order.h"

void evidence_release(struct memory_evidence *evidence)
{
	for (size_t i = 0; i < evidence->looks.len; i++) {
		vec_release(&evidence->looks.data[i]->ranges);
		vec_release(&evidence->looks.data[i]->regions);
		free(evidence->looks.data[i]);
	}
	vec_release(&evidence->looks);
	changes_release(&evidence->changes);
	vec_release(&evidence->ends);
}

struct evidence_look *evidence_look_add(struct memory_evidence *evidence, uint64_t ts,
					const void *by)
{
	struct evidence_look *look = xcalloc(1, sizeof(*look));

	look->ts = ts;
	look->by = by;
	look->only_device = -1;
	vec_push(&evidence->looks, look);
	return look;
}

void evidence_change_add(struct memory_evidence *evidence, uint64_t ts, uint64_t start,
			 uint64_t size)
{
	changes_add(&evidence->changes, ts, start, size);
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

static int look_by_time(const void *left, const void *right)
{
	return order_compare((*(struct evidence_look *const *)left)->ts,
			     (*(struct evidence_look *const *)right)->ts);
}

static void distrust(struct memory_evidence *evidence, struct evidence_look *look)
{
	look->regions.len = 0;
	evidence->distrusted = true;
}

void evidence_ready(struct memory_evidence *evidence)
{
	if (!evidence->looks.len)
		return; /* they are all that changes and ends are for */
	for (size_t i = 0; i < evidence->looks.len; i++)
		if (evidence->looks.data[i]->distrusted)
			distrust(evidence, evidence->looks.data[i]);
	qsort(evidence->looks.data, evidence->looks.len, sizeof(*evidence->looks.data),
	      look_by_time);
	if (evidence->ends.len)
		qsort(evidence->ends.data, evidence->ends.len, sizeof(*evidence->ends.data),
		      order_by_value);
	changes_ready(&evidence->changes);
}

/* The content of an address in the two looks around a time, before and after it. */
struct around {
	const struct evidence_look *look[2];
	enum evidence_class class[2];
	bool over[2]; /* calls between then and now were about memory there */
	const struct evidence_region *region[2]; /* NULL: none, or not the same memory any more */
	int only_device; /* -1: there are several */
};

static bool changed(const struct memory_evidence *evidence, uint64_t a, uint64_t b, uint64_t start,
		    uint64_t address)
{
	return changes_between(&evidence->changes, a < b ? a : b, a < b ? b : a, start, address);
}

static const struct evidence_range *range_in(const struct evidence_range *ranges, size_t count,
					     uint64_t address)
{
	size_t i = search_count(count, at, ranges[at].end <= address);

	return i < count && ranges[i].start <= address ? &ranges[i] : NULL;
}

static const struct evidence_region *region_in(const struct evidence_look *look, uint64_t address)
{
	const struct evidence_region *regions = look->regions.data;
	size_t count = look->regions.len, i = search_count(count, at, regions[at].end <= address);

	return i < count && regions[i].start <= address ? &regions[i] : NULL;
}

static void look_at(const struct memory_evidence *evidence, const struct evidence_look *look,
		    uint64_t ts, uint64_t address, struct around *around, int side)
{
	const struct evidence_range *range = range_in(look->ranges.data, look->ranges.len, address);
	const struct evidence_region *region = region_in(look, address);

	around->look[side] = look;
	if (range) {
		around->class[side] = range->class;
		around->over[side] = changed(evidence, ts, look->ts, range->start, address);
	}
	if (region && region->type != UCX_SAYS_UNKNOWN &&
	    !changed(evidence, ts, look->ts, region->start, address))
		around->region[side] = region;
}

static bool ended_between(const struct memory_evidence *evidence, uint64_t from, uint64_t until)
{
	size_t next = search_count(evidence->ends.len, at, evidence->ends.data[at] <= from);

	return next < evidence->ends.len && evidence->ends.data[next] <= until;
}

static bool look_around(const struct memory_evidence *evidence, const void *by, uint64_t ts,
			uint64_t address, struct around *around)
{
	const struct evidence_look *before = NULL, *behind = NULL;
	size_t next = search_count(evidence->looks.len, at, evidence->looks.data[at]->ts <= ts);

	if (next && evidence->looks.data[next - 1]->by == by)
		before = evidence->looks.data[next - 1];
	if (next < evidence->looks.len && evidence->looks.data[next]->by == by)
		behind = evidence->looks.data[next];
	if (before && ended_between(evidence, before->ts, ts))
		before = NULL;
	if (behind && ended_between(evidence, ts, behind->ts))
		behind = NULL;
	*around = (struct around){ 0 };
	if (before)
		look_at(evidence, before, ts, address, around, 0);
	if (behind)
		look_at(evidence, behind, ts, address, around, 1);
	if (behind || before)
		around->only_device = (behind ? behind : before)->only_device;
	if (around->only_device < 0 && evidence->joined_by == by && !evidence->ends.len)
		around->only_device = evidence->joined_device;
	return before || behind;
}

#define CHANGED "its mapping changed while it was in use"

/* By calls that were seen, or if some were not, by UCX, which has seen the others. */
static bool never_made(const struct memory_evidence *evidence, const struct around *around,
		       uint64_t address)
{
	return around->look[1]->cached ||
	       (evidence->whole && !evidence->late && !evidence->unprobed &&
		!evidence->distrusted && !changes_at(&evidence->changes, address));
}

/*
 * Memory mapped in between is in the later look only, unmapped memory in the earlier one. A
 * heap grows into addresses that it has reserved: host memory, if no GPU library made any there.
 * Where the two differ, a traced call in between shows which of them holds.
 */
static enum evidence_class class_of(const struct memory_evidence *evidence,
				    const struct around *around, uint64_t address,
				    const char **reason)
{
	enum evidence_class before = around->class[0], behind = around->class[1];

	*reason = NULL;
	if (before == behind || behind == EVIDENCE_NONE)
		return before;
	if (before == EVIDENCE_NONE)
		return behind;
	if (before == EVIDENCE_RESERVED && behind == EVIDENCE_HOST &&
	    never_made(evidence, around, address))
		return EVIDENCE_HOST;
	/* freed memory is not the memory there now, and new memory is not the former one */
	if (around->over[0] != around->over[1])
		return around->over[1] ? before : behind;
	*reason = CHANGED;
	return EVIDENCE_NONE;
}

static struct memory_answer known(enum memory_kind kind, const char *known_by)
{
	return (struct memory_answer){ .kind = kind, .device = -1, .known_by = known_by };
}

static struct memory_answer unknown(const char *reason)
{
	return (struct memory_answer){ .device = -1, .reason = reason };
}

static struct memory_answer on_gpu(const struct around *around, int device, const char *known_by)
{
	struct memory_answer answer = known(MEMORY_GPU, known_by);

	answer.device = device < 0 ? around->only_device : device;
	if (answer.device < 0)
		answer.reason = "made before the trace: which GPU was not told";
	return answer;
}

static struct memory_answer by_map(const struct around *around, enum evidence_class class)
{
	switch (class) {
	case EVIDENCE_HOST:
		return known(MEMORY_HOST, "map");
	case EVIDENCE_MANAGED:
		return known(MEMORY_MANAGED, "map");
	case EVIDENCE_PINNED:
		return known(MEMORY_PINNED, "map");
	case EVIDENCE_RESERVED:
		return on_gpu(around, -1, "map");
	case EVIDENCE_OTHER:
		return unknown("mapped by another device's driver");
	case EVIDENCE_NONE:
		break;
	}
	return unknown("not seen allocated");
}

/*
 * UCX calls memory of pools managed, too (uct_cuda_copy_md_query_attributes() since UCX 1.13,
 * of all that belongs to no context): what the driver calls managed lies elsewhere.
 */
static struct memory_answer by_ucx(const struct around *around,
				   const struct evidence_region *region, enum evidence_class class)
{
	if (class == EVIDENCE_HOST && region->type != UCX_SAYS_HOST)
		return unknown("UCX and the process's mappings say different things");
	switch (region->type) {
	case UCX_SAYS_HOST:
		return known(MEMORY_HOST, "ucx");
	case UCX_SAYS_GPU:
		return on_gpu(around, region->device, "ucx");
	case UCX_SAYS_MANAGED:
		if (class == EVIDENCE_RESERVED)
			return on_gpu(around, region->device, "ucx");
		return class == EVIDENCE_MANAGED
			       ? known(MEMORY_MANAGED, "ucx")
			       : unknown("managed or of a pool, which UCX does not tell apart");
	case UCX_SAYS_UNKNOWN:
		break;
	}
	return unknown("not seen allocated");
}

/* Nothing was there at the look before, or at the start of the process. */
static bool was_empty(const struct memory_evidence *evidence, const struct around *around)
{
	if (around->look[0])
		return around->class[0] == EVIDENCE_NONE;
	return around->look[1] == evidence->looks.data[0] && evidence->whole && !evidence->late;
}

/* It was mapped since; what GPU libraries have made since was seen, and was never there. */
static bool is_eliminated(const struct memory_evidence *evidence, const struct around *around,
			  uint64_t address)
{
	const struct evidence_look *look = around->look[around->look[0] ? 0 : 1];

	return was_empty(evidence, around) && around->class[1] == EVIDENCE_NONE &&
	       !evidence->unprobed && !look->distrusted && !changes_at(&evidence->changes, address);
}

bool evidence_find(const struct memory_evidence *evidence, const void *by, uint64_t ts,
		   uint64_t address, struct memory_answer *answer)
{
	const struct evidence_region *region;
	enum evidence_class class;
	struct around around;
	const char *reason;

	if (!look_around(evidence, by, ts, address, &around))
		return false;
	class = class_of(evidence, &around, address, &reason);
	region = around.region[1] ? around.region[1] : around.region[0];
	if (around.region[0] && around.region[1] &&
	    (around.region[0]->type != around.region[1]->type ||
	     around.region[0]->device != around.region[1]->device))
		*answer = unknown("UCX has changed its mind about it");
	else if (region)
		*answer = by_ucx(&around, region, class);
	else if (reason)
		*answer = unknown(reason);
	else if (class != EVIDENCE_NONE)
		*answer = by_map(&around, class);
	else if (is_eliminated(evidence, &around, address))
		*answer = known(MEMORY_HOST, "elimination");
	else
		return false;
	return true;
}
