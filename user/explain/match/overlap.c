// SPDX-License-Identifier: BSD-3-Clause
#include "explain/match/overlap.h"

#include <string.h>

#include "base/map.h"

struct extent extent_of(const json_t *sides)
{
	struct extent extent = { .host = "", .sides = sides };
	const json_t *side;
	size_t i;

	json_array_foreach(sides, i, side)
	{
		const char *t = json_string_value(json_object_get(side, "t"));
		json_int_t ts = json_integer_value(json_object_get(side, "ts"));

		if (t && !strcmp(t, "capture")) {
			json_t *host = json_object_get(side, "host");
			const char *id = json_string_value(json_object_get(host, "id"));

			extent.host = id ? id : "";
			extent.from = ts;
		}
		if (ts > extent.to)
			extent.to = ts;
	}
	return extent;
}

/* A process, by its pid and start time. */
static bool is_process(const json_t *side, uint64_t *tgid, uint64_t *start)
{
	const char *t = json_string_value(json_object_get(side, "t"));
	const json_t *pid = json_object_get(side, "tgid");
	const json_t *since = json_object_get(side, "start_time");

	*tgid = (uint64_t)json_integer_value(pid);
	*start = (uint64_t)json_integer_value(since);
	return t && !strcmp(t, "process") && json_is_integer(pid) && json_is_integer(since);
}

static bool has_process_of(const struct extent *a, const struct extent *b)
{
	struct map processes = { 0 };
	uint64_t tgid, start;
	bool found = false;
	const json_t *side;
	size_t i;

	json_array_foreach(a->sides, i, side)
	{
		if (is_process(side, &tgid, &start))
			map_insert(&processes, tgid, start, NULL);
	}
	json_array_foreach(b->sides, i, side)
	{
		if (is_process(side, &tgid, &start) && map_find(&processes, tgid, start))
			found = true;
	}
	map_release(&processes);
	return found;
}

bool extents_overlap(const struct extent *a, const struct extent *b)
{
	return !strcmp(a->host, b->host) && a->to >= b->from && b->to >= a->from &&
	       has_process_of(a, b);
}
