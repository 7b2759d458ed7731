// SPDX-License-Identifier: BSD-3-Clause
#include "show/line/line.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_ROOM 25 /* of a text, with its 0 */
#define TOP_ROOM (2 * NAME_ROOM)

/* Batch systems put the line between quotes, on command lines and in databases. */
static void plain(char *to, size_t room, const char *text)
{
	size_t n = 0;

	for (; text && text[n] && n + 1 < room; n++)
		to[n] = isalnum((unsigned char)text[n]) || strchr("._:/@+-[]", text[n]) ? text[n]
											: '?';
	to[n] = '\0';
}

static void set_text(json_t *object, const char *name, const char *text)
{
	char short_text[NAME_ROOM];

	if (!text)
		return;
	plain(short_text, sizeof(short_text), text);
	json_object_set_new(object, name, json_string(short_text));
}

static void set_top(json_t *object, const struct job_line *line)
{
	char text[TOP_ROOM], transport[NAME_ROOM], device[NAME_ROOM];

	if (!line->transport || !line->data)
		return;
	plain(transport, sizeof(transport), line->transport);
	plain(device, sizeof(device), line->device ? line->device : "?");
	snprintf(text, sizeof(text), "%s/%s", transport, device);
	json_object_set_new(object, "top", json_string(text));
	json_object_set_new(object, "share",
			    json_real(round(100.0 * line->most / line->data) / 100));
}

/* A lower bound of 0 says nothing. */
static void set_counts(json_t *object, const struct job_line *line)
{
	const bool calls = line->calls || !line->why, sends = line->sends || !line->why;

	json_object_set_new(object, "calls",
			    calls ? json_integer((json_int_t)line->calls) : json_null());
	json_object_set_new(object, "sends",
			    sends ? json_integer((json_int_t)line->sends) : json_null());
	json_object_set_new(object, "bytes",
			    sends ? json_integer((json_int_t)line->bytes) : json_null());
	if (!calls || !sends)
		set_text(object, "why", line->why);
}

static json_t *members(const struct job_line *line)
{
	json_t *object = json_pack("{s:s}", "schema", LINE_SCHEMA);

	set_text(object, "job", line->job);
	set_text(object, "step", line->step);
	json_object_set_new(object, "ranks", json_integer(line->ranks));
	json_object_set_new(object, "s", json_real(round(line->seconds * 10) / 10));
	set_counts(object, line);
	set_top(object, line);
	if (isfinite(line->unwatched))
		json_object_set_new(object, "unwatched",
				    json_real(round(line->unwatched * 10) / 10));
	json_object_set_new(object, "lost", json_integer((json_int_t)line->lost));
	return object;
}

void line_text(const struct job_line *line, char text[LINE_ROOM])
{
	static const char *const least[] = { "share", "top", "calls", "s", "sends", NULL };
	json_t *object = members(line);

	for (const char *const *name = least;; name++) {
		const size_t size = json_dumpb(object, text, LINE_ROOM - 1,
					       JSON_COMPACT | JSON_REAL_PRECISION(10));

		if (size < LINE_ROOM - 1 || !*name) {
			text[size < LINE_ROOM - 1 ? size : 0] = '\0';
			break;
		}
		json_object_del(object, *name);
	}
	json_decref(object);
}
