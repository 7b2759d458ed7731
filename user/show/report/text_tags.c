// SPDX-License-Identifier: BSD-3-Clause
/* Messages by the meaning of their tags to the libraries above UCP. */
#include "show/report/text.h"

#include <stdlib.h>

#include "base/units.h"

static const struct tag_row *row_of(const void *row)
{
	return row;
}

static void print_word(char *cell, size_t size, uint64_t word)
{
	snprintf(cell, size, "%s", word ? (const char *)(uintptr_t)word : "-");
}

static void print_library(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	print_word(cell, size, row_of(row)->key.library);
}

static void print_team(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	print_word(cell, size, row_of(row)->key.team);
}

static void print_kind(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	print_word(cell, size, row_of(row)->key.kind);
}

static void print_number(char *cell, size_t size, uint64_t number, const void *context)
{
	if (number)
		unit_count(cell, size, number, text_exact(context));
	else
		snprintf(cell, size, "-");
}

static void print_senders(char *cell, size_t size, const void *row, const void *context)
{
	print_number(cell, size, row_of(row)->senders, context);
}

static void print_numbers(char *cell, size_t size, const void *row, const void *context)
{
	print_number(cell, size, row_of(row)->numbers, context);
}

static void print_messages(char *cell, size_t size, const void *row, const void *context)
{
	unit_count(cell, size, row_of(row)->messages, text_exact(context));
}

static void print_bytes(char *cell, size_t size, const void *row, const void *context)
{
	unit_bytes(cell, size, row_of(row)->bytes, text_exact(context));
}

static const struct table_column columns[] = {
	{ "TAGS OF", true, 8, 0, print_library },     { "team", true, 12, 0, print_team },
	{ "kind", true, 12, 0, print_kind },          { "senders", false, 0, 3, print_senders },
	{ "operations", false, 0, 2, print_numbers }, { "messages", false, 0, 0, print_messages },
	{ "bytes", false, 0, 1, print_bytes },
};

static int by_bytes(const void *left, const void *right)
{
	const struct tag_row *a = *(const struct tag_row *const *)left;
	const struct tag_row *b = *(const struct tag_row *const *)right;
	const int order = (a->bytes < b->bytes) - (a->bytes > b->bytes);

	return order ? order : (a > b) - (a < b);
}

void text_tags(const struct text_report *text)
{
	static const size_t limits[TEXT_LIMITS] = { 8, 40 };
	const struct report_tags *tags = &text->report->tags;
	const void **rows = NULL;
	size_t room = 0, shown;

	if (!tags->rows.len)
		return;
	rows = vec_grow(NULL, &room, tags->rows.len, sizeof(*rows));
	for (size_t i = 0; i < tags->rows.len; i++)
		rows[i] = &tags->rows.data[i];
	qsort(rows, tags->rows.len, sizeof(*rows), by_bytes);
	shown = text_limit(text, tags->rows.len, limits);
	table_print(text->out, text->options,
		    &(struct report_table){ columns, ARRAY_SIZE(columns), text, rows, shown });
	text_end(text, shown, tags->rows.len);
	free(rows);
}
