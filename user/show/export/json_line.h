/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One JSON object per line, member by member. Made for many millions of lines: no tree, and a name
 * is escaped the first time only (names are interned: one pointer per text, while facts come).
 */
#ifndef UCXBPF_EXPORT_JSON_LINE_H
#define UCXBPF_EXPORT_JSON_LINE_H

#include <stdio.h>

#include "base/map.h"
#include "base/vec.h"
#include "show/export/fields.h"

struct json_line {
	VEC(char) text;
	VEC(char *) names; /* as JSON strings */
	struct map known; /* pointer -> number in names + 1 */
};

void json_line_release(struct json_line *line);

/* Begins {"event":"name". */
void json_line_begin(struct json_line *line, const char *event);

/* Members; name is plain. */
void json_line_name(struct json_line *line, const char *name);
void json_line_number(struct json_line *line, const char *name, int64_t value);
void json_line_text(struct json_line *line, const char *name, const char *interned);

/* A member's value as JSON text. */
void json_line_raw(struct json_line *line, const char *name, const char *json);

/* A field, save one that is a place or a stack. */
void json_line_field(struct json_line *line, const struct field *field,
		     const struct field_value *value);

/* Ends the object and the line. */
void json_line_end(struct json_line *line, FILE *out);

#endif
