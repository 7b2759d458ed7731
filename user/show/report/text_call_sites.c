// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/text.h"
#include "base/units.h"

/* All processes together: a place is the same in each that runs the same file. */
static const struct cube_shape shape = {
	2,
	{
		{ "function", CUBE_STRING, "unknown" },
		{ "place", CUBE_STRING, NULL },
	},
};

static const struct cube_row *row_of(const void *row)
{
	return row;
}

static bool exact(const void *context)
{
	return ((const struct text *)context)->options->exact;
}

static void print_place(char *cell, size_t size, const void *row, const void *context)
{
	const struct text *text = context;

	snprintf(cell, size, "%s", report_place(text->report, row_of(row)->key[1])->label);
}

static void print_in(char *cell, size_t size, const void *row, const void *context)
{
	const struct text *text = context;
	const struct place *place = report_place(text->report, row_of(row)->key[1]);

	snprintf(cell, size, "%s",
		 place->symbol   ? place->symbol
		 : place->module ? place->module
				 : place->reason);
}

static void print_function(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", cube_key_text(&shape.keys[0], row_of(row)->key[0]));
}

static void print_calls(char *cell, size_t size, const void *row, const void *context)
{
	unit_count(cell, size, row_of(row)->sums.count, exact(context));
}

static void print_time(char *cell, size_t size, const void *row, const void *context)
{
	const struct cube_sums *sums = &row_of(row)->sums;

	if (sums->timed)
		text_time(context, cell, size, sums->time_sum, sums->precisions);
	else
		snprintf(cell, size, "unknown");
}

static void print_bytes(char *cell, size_t size, const void *row, const void *context)
{
	unit_bytes(cell, size, row_of(row)->sums.bytes, exact(context));
}

static const struct table_column columns[] = {
	{ "CALL SITES", true, 16, 0, print_place },     { "in", true, 12, 1, print_in },
	{ "function", true, 12, 0, print_function },    { "calls", false, 0, 0, print_calls },
	{ "time, all ranks", false, 0, 3, print_time }, { "bytes sent", false, 0, 2, print_bytes },
};

void text_call_sites(const struct text *text)
{
	static const size_t limits[TEXT_LIMITS] = { 0, 20 };
	const struct cube_row **rows;
	struct cube sites;
	size_t shown;

	/* without -v the report is one screen */
	if (!text->options->verbose || !text->report->call_sites.rows.len)
		return;
	cube_init(&sites, &shape);
	cube_rollup(&sites, &text->report->call_sites);
	rows = cube_sorted(&sites, CUBE_BY_TIME);
	shown = text_limit(text, sites.rows.len, limits);
	table_print(text->out, text->options,
		    &(struct table){ columns, 6, text, (const void *const *)rows, shown });
	text_end(text, shown, sites.rows.len);
	free(rows);
	cube_release(&sites);
}
