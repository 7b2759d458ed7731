// SPDX-License-Identifier: BSD-3-Clause
/* MPI functions, and the places that call them. */
#include "show/report/text.h"

#include <inttypes.h>
#include <string.h>

#include "base/units.h"

static const struct cube_shape function_shape = {
	1,
	{ { "function", CUBE_STRING, NULL } },
};

static const struct cube_shape carried_shape = {
	3,
	{
		{ "kind", CUBE_KIND, NULL },
		{ "function", CUBE_STRING, NULL },
		{ "transport", CUBE_STRING, "unknown" },
	},
};

struct functions {
	const struct text_report *text;
	struct cube rows;
	struct text_carried carried; /* data transfers by function and transport */
	uint64_t span; /* ns, of all processes that called MPI; 0: not known */
};

static bool functions_exact(const void *context)
{
	return ((const struct functions *)context)->text->options->exact;
}

static void functions_print_function(char *cell, size_t size, const void *row, const void *context)
{
	const struct functions *functions = context;
	const char *function =
		cube_key_text(&function_shape.keys[0], ((const struct cube_row *)row)->key[0]);

	snprintf(cell, size, "%s", function ? function : functions->text->outside);
}

/* Counted transfers without an operation: their call is unknown. */
static const char in_progress[] = "in progress";

static bool is_function(uint64_t key)
{
	return key && key != (uintptr_t)in_progress;
}

static void functions_print_calls(char *cell, size_t size, const void *row, const void *context)
{
	if (is_function(((const struct cube_row *)row)->key[0]))
		unit_count(cell, size, text_row_sums(row)->count, functions_exact(context));
	else
		snprintf(cell, size, "-");
}

/* An upper bound, for calls inside which nothing was seen: until their threads went on. */
static void print_most(char *cell, size_t size, const struct cube_sums *sums,
		       const struct text_report *text)
{
	if (sums->unbounded)
		snprintf(cell, size, "?");
	else
		text_time(text, cell, size, sums->time_most, 1u << TIME_UPPER_BOUND);
}

/* Calls without any time make the sum a bound. */
static uint32_t precisions_of(const struct cube_sums *sums)
{
	if (sums->timed < sums->count && sums->precisions == 1u << TIME_EXACT)
		return 1u << TIME_LOWER_BOUND;
	return sums->precisions;
}

static void functions_print_time(char *cell, size_t size, const void *row, const void *context)
{
	const struct functions *functions = context;

	/* a lower bound of zero is no information */
	if (text_row_sums(row)->timed && !text_row_sums(row)->time_sum &&
	    text_row_sums(row)->precisions == 1u << TIME_LOWER_BOUND)
		print_most(cell, size, text_row_sums(row), functions->text);
	else if (text_row_sums(row)->timed)
		text_time(functions->text, cell, size, text_row_sums(row)->time_sum,
			  precisions_of(text_row_sums(row)));
	else
		snprintf(cell, size, "%s",
			 is_function(((const struct cube_row *)row)->key[0]) ? "unknown" : "-");
}

static const struct report_function *function_of(const void *row, const void *context)
{
	const struct functions *functions = context;

	return report_function(&functions->text->report->functions,
			       ((const struct cube_row *)row)->key[0]);
}

static const char *bound_of(const struct functions *functions,
			    const struct report_function *function)
{
	if (function->exact)
		return "";
	return function->precisions & ~(1u << TIME_EXACT | 1u << TIME_LOWER_BOUND)
		       ? "~"
		       : functions->text->at_least;
}

static void no_time(char *cell, size_t size, const void *row)
{
	snprintf(cell, size, is_function(((const struct cube_row *)row)->key[0]) ? "?" : "-");
}

static void functions_print_share(char *cell, size_t size, const void *row, const void *context)
{
	const struct functions *functions = context;
	const struct report_function *function = function_of(row, context);

	if (!function || !functions->span)
		return no_time(cell, size, row);
	text_share(functions->text, cell, size, bound_of(functions, function), function->time,
		   functions->span);
}

static void add_process(char *cell, size_t size, const struct functions *functions,
			const struct report_function *function, uint64_t ns, int process)
{
	char time[40], who[40];

	unit_time(time, sizeof(time), ns, functions->text->options->exact);
	text_process(functions->text, who, sizeof(who), process);
	text_append(cell, size, "%s%s (%s)", bound_of(functions, function), time, who);
}

static void functions_print_spread(char *cell, size_t size, const void *row, const void *context)
{
	const struct functions *functions = context;
	const struct report_function *function = function_of(row, context);

	if (!function)
		return no_time(cell, size, row);
	*cell = '\0';
	if (function->least_by != function->most_by) {
		add_process(cell, size, functions, function, function->least, function->least_by);
		text_append(cell, size, " to ");
	}
	add_process(cell, size, functions, function, function->most, function->most_by);
}

static void functions_print_imbalance(char *cell, size_t size, const void *row, const void *context)
{
	const struct report_function *function = function_of(row, context);

	if (!function || !function->exact)
		return no_time(cell, size, row);
	snprintf(cell, size, "%.2f", report_function_imbalance(function));
}

static void print_quantile(char *cell, size_t size, const void *row, const void *context,
			   unsigned int percent)
{
	const struct functions *functions = context;
	const struct report_function *function = function_of(row, context);

	if (!function || !function->durations)
		return no_time(cell, size, row);
	unit_time(cell, size, spread_quantile(function->durations, percent),
		  functions->text->options->exact);
	if (function->durations->count < function->calls)
		text_append(cell, size, " (%" PRIu64 " of %" PRIu64 ")", function->durations->count,
			    function->calls);
}

static void functions_print_median(char *cell, size_t size, const void *row, const void *context)
{
	print_quantile(cell, size, row, context, 50);
}

static void functions_print_p99(char *cell, size_t size, const void *row, const void *context)
{
	print_quantile(cell, size, row, context, 99);
}

/* Begins a cell of operations or their bytes: "?" and false if they are known of no call. */
static bool begin_amount(char *cell, size_t size, const struct text_report *text,
			 const struct cube_sums *sums)
{
	const bool known = cube_ops_known(sums);

	snprintf(cell, size, "%s", !known ? "?" : sums->ops_unknown ? text->at_least : "");
	return known;
}

static void print_ops(char *cell, size_t size, const void *row, const void *context)
{
	const struct functions *functions = context;

	if (begin_amount(cell, size, functions->text, text_row_sums(row)))
		unit_count(cell + strlen(cell), size - strlen(cell), text_row_sums(row)->ops,
			   functions_exact(context));
}

static void functions_print_bytes(char *cell, size_t size, const void *row, const void *context)
{
	const struct functions *functions = context;

	if (begin_amount(cell, size, functions->text, text_row_sums(row)))
		unit_bytes(cell + strlen(cell), size - strlen(cell), text_row_sums(row)->bytes,
			   functions_exact(context));
}

static void print_transports(char *cell, size_t size, const void *row, const void *context)
{
	const struct functions *functions = context;

	text_shares(cell, size, &functions->carried,
		    (uint64_t[]){ KIND_DATA, ((const struct cube_row *)row)->key[0] });
	if (!*cell)
		snprintf(cell, size, "%s",
			 report_recorded(functions->text->report, LEVEL_UCT) == RECORDED_ALWAYS
				 ? "-"
				 : "?");
}

static const struct table_column functions_columns[] = {
	{ "MPI FUNCTIONS", true, 14, 0, functions_print_function },
	{ "calls", false, 0, 0, functions_print_calls },
	{ "time", false, 0, 1, functions_print_time },
	{ "of run", false, 0, 2, functions_print_share },
	{ "by rank", true, 0, 3, functions_print_spread },
	{ "most by mean", false, 0, 5, functions_print_imbalance },
	{ "median", false, 0, 6, functions_print_median },
	{ "p99", false, 0, 6, functions_print_p99 },
	{ "ops", false, 0, 4, print_ops },
	{ "bytes sent", false, 0, 0, functions_print_bytes },
	{ "transfers", true, 12, 0, print_transports },
};

static void add_carried(struct functions *functions)
{
	const struct report *report = functions->text->report;

	if (!report_only_counts(report)) {
		cube_rollup(&functions->carried.cube, &report->transfers);
		return;
	}
	for (size_t i = 0; i < report->transfers.rows.len; i++) {
		const struct cube_row *row = &report->transfers.rows.data[i];
		uint64_t function =
			row->key[T_UCP_OP] ? row->key[T_FUNCTION] : (uintptr_t)in_progress;
		uint64_t key[] = { row->key[T_KIND], function, row->key[T_TRANSPORT] };

		cube_sums_add(&cube_at(&functions->carried.cube, key)->sums, &row->sums);
	}
}

/* Outside MPI there are no calls: the row is made from operations and data transfers. */
static void add_outside(struct functions *functions)
{
	const struct cube *ops = &functions->text->report->ops;
	uint64_t outside[] = { 0 };

	for (size_t i = 0; i < ops->rows.len; i++)
		if (!ops->rows.data[i].key[2])
			cube_at(&functions->rows, outside)->sums.ops +=
				ops->rows.data[i].sums.count;
	for (size_t i = 0; i < functions->carried.cube.rows.len; i++) {
		const struct cube_row *row = &functions->carried.cube.rows.data[i];

		if (row->key[0] == KIND_DATA && !is_function(row->key[1]))
			cube_at(&functions->rows, &row->key[1])->sums.bytes += row->sums.bytes;
	}
}

/* Nonblocking calls take little time: the one that sent most is always shown. */
static void show_sender(const struct cube_row **rows, size_t count, size_t shown)
{
	const struct cube_row *sender;
	size_t most = count;

	for (size_t i = 0; i < count; i++)
		if (is_function(rows[i]->key[0]) &&
		    (most == count || rows[i]->sums.bytes > rows[most]->sums.bytes))
			most = i;
	if (!shown || most == count || most < shown)
		return;
	sender = rows[most];
	rows[most] = rows[shown - 1];
	rows[shown - 1] = sender;
}

/* The columns for which some row has data; returns their number. */
static int columns_of(const struct report *report,
		      struct table_column columns[ARRAY_SIZE(functions_columns)])
{
	bool timed = report->call_durations.spreads.len;
	int count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(functions_columns); i++) {
		const struct table_column *column = &functions_columns[i];

		if (timed || (column->print != functions_print_median &&
			      column->print != functions_print_p99))
			columns[count++] = *column;
	}
	return count;
}

void text_functions(const struct text_report *text)
{
	static const size_t limits[TEXT_LIMITS] = { 4, 60 };
	struct functions functions = { .text = text, .span = report_mpi_span(text->report) };
	struct table_column columns[ARRAY_SIZE(functions_columns)];
	const struct cube_row **rows;
	size_t shown;
	int count;

	cube_init(&functions.rows, &function_shape);
	cube_init(&functions.carried.cube, &carried_shape);
	cube_rollup(&functions.rows, &text->report->calls);
	add_carried(&functions);
	functions.carried.sorted = cube_sorted(&functions.carried.cube, CUBE_BY_KEYS);
	add_outside(&functions);
	rows = cube_sorted(&functions.rows, CUBE_BY_TIME);
	shown = text_limit(text, functions.rows.rows.len, limits);
	show_sender(rows, functions.rows.rows.len, shown);
	if (shown) {
		count = columns_of(text->report, columns);
		table_print(text->out, text->options,
			    &(struct report_table){ columns, count, &functions,
						    (const void *const *)rows, shown });
		text_end(text, shown, functions.rows.rows.len);
	}
	free(rows);
	free(functions.carried.sorted);
	cube_release(&functions.rows);
	cube_release(&functions.carried.cube);
}

/* Sums over all processes: a place is the same in all that run the same file. */
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

static void print_place(char *cell, size_t size, const void *row, const void *context)
{
	const struct text_report *text = context;

	snprintf(cell, size, "%s", report_place(text->report, row_of(row)->key[1])->label);
}

static void print_in(char *cell, size_t size, const void *row, const void *context)
{
	const struct text_report *text = context;
	const struct place *place = report_place(text->report, row_of(row)->key[1]);

	/* without a line the label has the symbol */
	if (place->file && place->symbol)
		snprintf(cell, size, "%s", place->frame);
	else if (place->module)
		snprintf(cell, size, "%s", basename(place->module));
	else
		snprintf(cell, size, "%s", place->reason);
}

static void sites_print_function(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", cube_key_text(&shape.keys[0], row_of(row)->key[0]));
}

static void sites_print_calls(char *cell, size_t size, const void *row, const void *context)
{
	unit_count(cell, size, row_of(row)->sums.count, text_exact(context));
}

static void sites_print_time(char *cell, size_t size, const void *row, const void *context)
{
	const struct cube_sums *sums = &row_of(row)->sums;

	if (sums->timed)
		text_time(context, cell, size, sums->time_sum, sums->precisions);
	else
		snprintf(cell, size, "unknown");
}

static void sites_print_bytes(char *cell, size_t size, const void *row, const void *context)
{
	if (begin_amount(cell, size, context, &row_of(row)->sums))
		unit_bytes(cell + strlen(cell), size - strlen(cell), row_of(row)->sums.bytes,
			   text_exact(context));
}

static const struct table_column sites_columns[] = {
	{ "CALL SITES", true, 16, 0, print_place },
	{ "in", true, 12, 1, print_in },
	{ "function", true, 12, 0, sites_print_function },
	{ "calls", false, 0, 0, sites_print_calls },
	{ "time, all ranks", false, 0, 3, sites_print_time },
	{ "bytes sent", false, 0, 2, sites_print_bytes },
};

void text_call_sites(const struct text_report *text)
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
	table_print(
		text->out, text->options,
		&(struct report_table){ sites_columns, 6, text, (const void *const *)rows, shown });
	text_end(text, shown, sites.rows.len);
	free(rows);
	cube_release(&sites);
}
