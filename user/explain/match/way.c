// SPDX-License-Identifier: BSD-3-Clause
#include "explain/match/way.h"

#include <stdlib.h>

struct way *way_new(const struct memory_answer *memory)
{
	struct way *way = calloc(1, sizeof(*way));

	if (!way)
		abort();
	way->refs = 1;
	way->memory = *memory;
	return way;
}

struct way *way_hold(struct way *way)
{
	if (way)
		way->refs++;
	return way;
}

void way_drop(struct way *way)
{
	if (!way || --way->refs)
		return;
	vec_release(&way->copies.sorts);
	vec_release(&way->data.sorts);
	free(way);
}

void way_add(struct way *way, bool copy, const struct leg *leg, uint64_t count, uint64_t bytes)
{
	struct legs *legs = copy ? &way->copies : &way->data;

	legs->count += count;
	legs->bytes += bytes;
	for (size_t i = 0; i < legs->sorts.len; i++) {
		const struct leg *known = &legs->sorts.data[i];

		if (known->transport == leg->transport && known->src == leg->src &&
		    known->dst == leg->dst)
			return;
	}
	vec_push(&legs->sorts, *leg);
}
