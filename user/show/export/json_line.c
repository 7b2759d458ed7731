// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/json_line.h"

#include <string.h>

#include "base/text.h"

void json_line_release(struct json_line *line)
{
	for (size_t i = 0; i < line->names.len; i++)
		free(line->names.data[i]);
	vec_release(&line->names);
	vec_release(&line->text);
	map_release(&line->known);
}

static void put(struct json_line *line, const char *text, size_t len)
{
	vec_reserve(&line->text, line->text.len + len);
	memcpy(line->text.data + line->text.len, text, len);
	line->text.len += len;
}

static void put_text(struct json_line *line, const char *text)
{
	put(line, text, strlen(text));
}

static void put_number(struct json_line *line, uint64_t value)
{
	char digits[20], *first = digits + sizeof(digits);

	do {
		*--first = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	put(line, first, (size_t)(digits + sizeof(digits) - first));
}

static void put_signed(struct json_line *line, int64_t value)
{
	if (value < 0)
		put(line, "-", 1);
	put_number(line, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

static void put_hex(struct json_line *line, uint64_t value)
{
	char text[24];

	put(line, text,
	    (size_t)snprintf(text, sizeof(text), "\"0x%llx\"", (unsigned long long)value));
}

static void put_character(FILE *out, const char *text, size_t len, unsigned int code)
{
	if (!len)
		fputc('?', out);
	else if (code == '"' || code == '\\')
		fprintf(out, "\\%c", (char)code);
	else if (text_steers(code))
		fprintf(out, "\\u%04x", code);
	else
		fwrite(text, 1, len, out);
}

/* As a JSON string: what steers a terminal or breaks a line is escaped, what is no UTF-8 is ?. */
static char *escaped(const char *text)
{
	char *json = NULL;
	unsigned int code;
	size_t size, len;
	FILE *out = open_memstream(&json, &size);

	if (!out)
		abort();
	fputc('"', out);
	for (; *text; text += len ? len : 1) {
		len = text_character(text, &code);
		put_character(out, text, len, code);
	}
	fputc('"', out);
	fclose(out);
	return json;
}

static const char *name_of(struct json_line *line, const char *text)
{
	uint64_t *known = map_insert(&line->known, (uintptr_t)text, 0, NULL);

	if (!*known) {
		vec_push(&line->names, escaped(text));
		*known = line->names.len;
	}
	return line->names.data[*known - 1];
}

void json_line_begin(struct json_line *line, const char *event)
{
	line->text.len = 0;
	put_text(line, "{\"event\":\"");
	put_text(line, event);
	put_text(line, "\"");
}

void json_line_name(struct json_line *line, const char *name)
{
	put(line, ",\"", 2);
	put_text(line, name);
	put(line, "\":", 2);
}

void json_line_number(struct json_line *line, const char *name, int64_t value)
{
	json_line_name(line, name);
	put_signed(line, value);
}

void json_line_text(struct json_line *line, const char *name, const char *interned)
{
	json_line_raw(line, name, interned ? name_of(line, interned) : "null");
}

void json_line_raw(struct json_line *line, const char *name, const char *json)
{
	json_line_name(line, name);
	put_text(line, json);
}

void json_line_field(struct json_line *line, const struct field *field,
		     const struct field_value *value)
{
	json_line_name(line, field->name);
	if (value->null)
		put(line, "null", 4);
	else if (value->text)
		put_text(line, name_of(line, value->text));
	else if (field->type == FIELD_BOOL)
		put_text(line, value->number ? "true" : "false");
	else if (field->type == FIELD_BITS || field->type == FIELD_ADDRESS)
		put_hex(line, value->number);
	else if (field->type == FIELD_INT)
		put_signed(line, (int64_t)value->number);
	else
		put_number(line, value->number);
}

void json_line_end(struct json_line *line, FILE *out)
{
	put(line, "}\n", 2);
	fwrite_unlocked(line->text.data, 1, line->text.len, out);
}
