// SPDX-License-Identifier: BSD-3-Clause
/* Code that calls UCP without MPI: which function of which file makes which operations. */
#include "show/report/text.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "base/vec.h"

enum { CALLER_FUNCTION, CALLER_MODULE, CALLER_OP };

static const struct cube_shape shape = {
	3,
	{
		[CALLER_FUNCTION] = { "function", CUBE_STRING, "unknown" },
		[CALLER_MODULE] = { "module", CUBE_STRING, NULL },
		[CALLER_OP] = { "op", CUBE_STRING, "unknown" },
	},
};

static const struct cube_row *row_of(const void *row)
{
	return row;
}

static void print_key(char *cell, size_t size, const void *row, int key)
{
	const char *name = cube_key_text(&shape.keys[key], row_of(row)->key[key]);

	snprintf(cell, size, "%s", name ? name : "-");
}

static void callers_print_function(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	print_key(cell, size, row, CALLER_FUNCTION);
}

static void callers_print_module(char *cell, size_t size, const void *row, const void *context)
{
	const char *path =
		cube_key_text(&shape.keys[CALLER_MODULE], row_of(row)->key[CALLER_MODULE]);

	(void)context;
	snprintf(cell, size, "%s", path ? basename(path) : "-");
}

static void callers_print_op(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	print_key(cell, size, row, CALLER_OP);
}

static void callers_print_count(char *cell, size_t size, const void *row, const void *context)
{
	unit_count(cell, size, row_of(row)->sums.count, text_exact(context));
}

static void callers_print_bytes(char *cell, size_t size, const void *row, const void *context)
{
	unit_bytes(cell, size, row_of(row)->sums.bytes, text_exact(context));
}

static const struct table_column columns[] = {
	{ "CALLERS OF UCP", true, 16, 0, callers_print_function },
	{ "in", true, 12, 0, callers_print_module },
	{ "op", true, 8, 0, callers_print_op },
	{ "ops", false, 0, 0, callers_print_count },
	{ "bytes", false, 0, 1, callers_print_bytes },
};

/* The places of a function are one row: its frame and file are one text each. */
static void add_row(struct cube *callers, const struct report *report, const struct cube_row *row)
{
	const struct place *place = report_place(report, row->key[2]);
	uint64_t key[] = { place ? (uintptr_t)place->frame : 0,
			   place ? (uintptr_t)place->module : 0, row->key[1] };

	cube_sums_add(&cube_at(callers, key)->sums, &row->sums);
}

static int by_name(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

void text_outside(const struct report *report, char *out, size_t size)
{
	const struct cube *callers = &report->callers;
	VEC(const char *) names = { 0 };
	char list[96] = "";

	for (size_t i = 0; i < callers->rows.len; i++) {
		const char *name = fact_caller(report_place(report, callers->rows.data[i].key[2]));

		if (name)
			vec_push(&names, name);
	}
	if (names.len)
		qsort(names.data, names.len, sizeof(*names.data), by_name);
	for (size_t i = 0; i < names.len; i++)
		if (!i || strcmp(names.data[i], names.data[i - 1]))
			text_append(list, sizeof(list), i ? ", %s" : "%s", names.data[i]);
	snprintf(out, size, "%s", fact_outside(list));
	vec_release(&names);
}

void text_callers(const struct text_report *text)
{
	static const size_t limits[TEXT_LIMITS] = { 8, 40 };
	const struct cube *from = &text->report->callers;
	const struct cube_row **rows;
	struct cube callers;
	size_t shown;

	if (!text->report->knows_callers)
		return;
	cube_init(&callers, &shape);
	for (size_t i = 0; i < from->rows.len; i++)
		add_row(&callers, text->report, &from->rows.data[i]);
	rows = cube_sorted(&callers, CUBE_BY_BYTES);
	shown = text_limit(text, callers.rows.len, limits);
	table_print(text->out, text->options,
		    &(struct report_table){ columns, ARRAY_SIZE(columns), text,
					    (const void *const *)rows, shown });
	text_end(text, shown, callers.rows.len);
	free(rows);
	cube_release(&callers);
}
