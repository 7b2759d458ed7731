// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/csv_cell.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Programs of tables compute what begins so; an apostrophe before it makes them show it. */
static bool begins_formula(const char *text)
{
	return *text && strchr("=+-@", *text);
}

void csv_text(FILE *out, const char *text)
{
	char *safe = text_plain(text);

	fputs(begins_formula(safe) ? "\"'" : "\"", out);
	for (const char *c = safe; *c; c++) {
		if (*c == '"')
			fputc('"', out);
		fputc(*c, out);
	}
	fputc('"', out);
	free(safe);
}

static char *frames_text(const json_t *frames)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	for (size_t i = json_array_size(frames); i-- > 0;) {
		const json_t *frame = json_array_get(frames, i);
		const char *label = json_string_value(json_object_get(frame, "label"));

		for (; label && *label; label++)
			fputc(*label == ';' ? ':' : *label, out);
		if (i)
			fputc(';', out);
	}
	fclose(out);
	return text;
}

static char *words_text(const json_t *words)
{
	char *text = NULL;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);
	json_t *word;

	if (!out)
		abort();
	json_array_foreach(words, i, word)
		fprintf(out, "%s%s", i ? ";" : "", json_string_value(word));
	fclose(out);
	return text;
}

/* Frames, the outermost first, or plain words. */
static char *list_text(const json_t *list)
{
	return json_is_string(json_array_get(list, 0)) ? words_text(list) : frames_text(list);
}

void csv_value(FILE *out, const json_t *value)
{
	char *text;

	if (json_is_integer(value)) {
		fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	} else if (json_is_string(value)) {
		csv_text(out, json_string_value(value));
	} else if (json_is_array(value)) {
		text = list_text(value);
		csv_text(out, text);
		free(text);
	}
}

static const json_t *member(const json_t *row, const char *column)
{
	const char *dot = strchr(column, '.');
	char outer[32];

	if (!dot)
		return json_object_get(row, column);
	snprintf(outer, sizeof(outer), "%.*s", (int)(dot - column), column);
	return json_object_get(json_object_get(row, outer), dot + 1);
}

void csv_row(FILE *out, const char *const *columns, const json_t *row)
{
	for (int i = 0; columns[i]; i++) {
		if (i)
			fputc(',', out);
		csv_value(out, member(row, columns[i]));
	}
	fputc('\n', out);
}

void csv_header(FILE *out, const char *const *columns)
{
	for (int i = 0; columns[i]; i++) {
		if (i)
			fputc(',', out);
		for (const char *c = columns[i]; *c; c++)
			fputc(*c == '.' ? '_' : *c, out);
	}
	fputc('\n', out);
}
