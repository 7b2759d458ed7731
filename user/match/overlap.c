// SPDX-License-Identifier: BSD-3-Clause
/* Captures that tell of the same process at the same time: its records would count twice. */
#include <string.h>

#include "match/overlap.h"

/* Of a capture: the host, when it was made, and who was in it. */
struct extent {
	const char *host;
	json_int_t from, to;
	const json_t *sides;
};

static struct extent extent_of(const json_t *sides)
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

static bool same_process(const json_t *a, const json_t *b)
{
	return json_equal(json_object_get(a, "tgid"), json_object_get(b, "tgid")) &&
	       json_equal(json_object_get(a, "start_time"), json_object_get(b, "start_time"));
}

static bool is_process(const json_t *side)
{
	const char *t = json_string_value(json_object_get(side, "t"));

	return t && !strcmp(t, "process");
}

static bool extents_overlap(const struct extent *a, const struct extent *b)
{
	const json_t *left, *right;
	size_t i, k;

	if (strcmp(a->host, b->host) || a->to < b->from || b->to < a->from)
		return false;
	json_array_foreach(a->sides, i, left)
		json_array_foreach(b->sides, k, right) if (is_process(left) && is_process(right) &&
							   same_process(left, right)) return true;
	return false;
}

bool sides_overlap(const json_t *a, const json_t *b)
{
	struct extent left = extent_of(a), right = extent_of(b);

	return extents_overlap(&left, &right);
}
