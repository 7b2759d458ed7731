// SPDX-License-Identifier: BSD-3-Clause
/* Collective operations, and the algorithms that their messages show. */
#include "show/report/text.h"

#include <stdlib.h>

#include "base/units.h"

static const struct collective_row *row_of(const void *row)
{
	return row;
}

static const char *name_of(uint64_t word)
{
	return (const char *)(uintptr_t)word;
}

static void print_function(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", name_of(row_of(row)->key.function));
}

static void print_ranks(char *cell, size_t size, const void *row, const void *context)
{
	if (row_of(row)->key.ranks < 0)
		snprintf(cell, size, "?");
	else
		unit_count(cell, size, (uint64_t)row_of(row)->key.ranks, text_exact(context));
}

static void print_algorithm(char *cell, size_t size, const void *row, const void *context)
{
	const struct collective_key *key = &row_of(row)->key;

	(void)context;
	if (key->algorithm)
		snprintf(cell, size, "%s", name_of(key->algorithm));
	else
		snprintf(cell, size, "unknown (%s)", name_of(key->reason));
}

static void print_count(char *cell, size_t size, const void *row, const void *context)
{
	unit_count(cell, size, row_of(row)->count, text_exact(context));
}

static const char *at_least(const void *context, bool bound)
{
	return bound ? ((const struct text_report *)context)->at_least : "";
}

static void print_rounds(char *cell, size_t size, const void *row, const void *context)
{
	char number[40];

	unit_count(number, sizeof(number), row_of(row)->rounds, text_exact(context));
	if (row_of(row)->rounds)
		snprintf(cell, size, "%s%s", at_least(context, row_of(row)->rounds_bound), number);
	else
		snprintf(cell, size, "?");
}

static void print_sent(char *cell, size_t size, const void *row, const void *context)
{
	char number[40];

	unit_count(number, sizeof(number), row_of(row)->most_sent, text_exact(context));
	snprintf(cell, size, "%s%s", at_least(context, row_of(row)->bytes_bound), number);
}

static void print_bytes(char *cell, size_t size, const void *row, const void *context)
{
	const struct collective_row *of = row_of(row);
	char least[40], most[40];

	unit_bytes(least, sizeof(least), of->least, text_exact(context));
	snprintf(cell, size, "%s%s", at_least(context, of->bytes_bound), least);
	unit_bytes(most, sizeof(most), of->most, text_exact(context));
	if (of->most > of->least)
		text_append(cell, size, " to %s", most);
}

static const struct table_column columns[] = {
	{ "COLLECTIVES", true, 12, 0, print_function },
	{ "ranks", false, 0, 0, print_ranks },
	{ "algorithm", true, 20, 0, print_algorithm },
	{ "count", false, 0, 0, print_count },
	{ "rounds", false, 0, 2, print_rounds },
	{ "sends of a rank", false, 0, 3, print_sent },
	{ "bytes of each", false, 0, 1, print_bytes },
};

/* Those that moved most come first. */
static int by_bytes(const void *left, const void *right)
{
	const struct collective_row *a = *(const struct collective_row *const *)left;
	const struct collective_row *b = *(const struct collective_row *const *)right;
	const int order = (a->bytes < b->bytes) - (a->bytes > b->bytes);

	return order ? order : (a > b) - (a < b);
}

void text_collectives(const struct text_report *text)
{
	static const size_t limits[TEXT_LIMITS] = { 4, 40 };
	const struct report_collectives *collectives = &text->report->collectives;
	const void **rows = NULL;
	size_t shown, count = 0, room = 0;

	if (!collectives->rows.len)
		return;
	rows = vec_grow(NULL, &room, collectives->rows.len, sizeof(*rows));
	for (size_t i = 0; i < collectives->rows.len; i++)
		/* two ranks have no choice */
		if (text->options->verbose || collectives->rows.data[i].key.ranks != 2)
			rows[count++] = &collectives->rows.data[i];
	if (count) {
		qsort(rows, count, sizeof(*rows), by_bytes);
		shown = text_limit(text, count, limits);
		table_print(
			text->out, text->options,
			&(struct report_table){ columns, ARRAY_SIZE(columns), text, rows, shown });
		text_end(text, shown, count);
	}
	free(rows);
}
