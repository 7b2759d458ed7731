// SPDX-License-Identifier: BSD-3-Clause
/* The time of each process: in MPI, waiting there, outside. */
#include "show/report/text.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"

static const struct process_time *time_of(const void *row)
{
	return row;
}

static int process_of(const struct text_report *text, const void *row)
{
	return (int)(time_of(row) - text->report->waits.times.data);
}

static uint64_t span_of(const struct text_report *text, const void *row)
{
	return report_process_span(text->report, process_of(text, row));
}

static bool is_bounded(const struct process_time *time)
{
	return time->unbounded || time->least != time->most;
}

static void add_time(const struct text_report *text, char *cell, size_t size, uint64_t ns)
{
	unit_time(cell + strlen(cell), size - strlen(cell), ns, text->options->exact);
}

static void print_who(char *cell, size_t size, const void *row, const void *context)
{
	text_process(context, cell, size, process_of(context, row));
}

static void print_span(char *cell, size_t size, const void *row, const void *context)
{
	*cell = '\0';
	add_time(context, cell, size, span_of(context, row));
}

static void print_in_mpi(char *cell, size_t size, const void *row, const void *context)
{
	const struct text_report *text = context;

	if (!time_of(row)->timed) {
		snprintf(cell, size, "?");
		return;
	}
	snprintf(cell, size, "%s", is_bounded(time_of(row)) ? text->at_least : "");
	add_time(text, cell, size, time_of(row)->least);
}

static void print_share(char *cell, size_t size, const void *row, const void *context)
{
	const struct text_report *text = context;

	if (time_of(row)->timed)
		text_share(text, cell, size, is_bounded(time_of(row)) ? text->at_least : "",
			   time_of(row)->least, span_of(text, row));
	else
		snprintf(cell, size, "?");
}

/* Waits follow from messages, which transfers join. */
static void print_waiting(char *cell, size_t size, const void *row, const void *context)
{
	const struct text_report *text = context;
	const uint64_t waited = time_of(row)->waited;
	const char *bound = text_layer_bound(text, LEVEL_UCT, waited);

	snprintf(cell, size, "%s", bound ? bound : "?");
	if (bound)
		add_time(text, cell, size, waited);
}

static void print_outside(char *cell, size_t size, const void *row, const void *context)
{
	const struct text_report *text = context;
	const uint64_t span = span_of(text, row), least = time_of(row)->least;

	if (!time_of(row)->timed || least > span) { /* threads in MPI side by side */
		snprintf(cell, size, "?");
		return;
	}
	snprintf(cell, size, "%s", is_bounded(time_of(row)) ? text->at_most : "");
	add_time(text, cell, size, span - least);
}

static const struct table_column columns[] = {
	{ "TIME OF RANK", true, 0, 0, print_who }, { "observed", false, 0, 2, print_span },
	{ "in MPI", false, 0, 0, print_in_mpi },   { "of it", false, 0, 1, print_share },
	{ "waiting", false, 0, 0, print_waiting }, { "outside MPI", false, 0, 3, print_outside },
};

static int rank_of(const struct report *report, const struct process_time *time)
{
	const int process = (int)(time - report->waits.times.data);

	return report_process_at(report, process)->fact.rank;
}

/* Processes without a rank last. */
static int by_rank(const void *left, const void *right, void *report)
{
	const struct process_time *a = *(const void *const *)left, *b = *(const void *const *)right;
	const unsigned int first = (unsigned int)rank_of(report, a);
	const unsigned int second = (unsigned int)rank_of(report, b);

	if (first != second)
		return first < second ? -1 : 1;
	return (a > b) - (a < b);
}

/* Under a filter, time outside the calls that pass is not time outside MPI. */
void text_times(const struct text_report *text)
{
	static const size_t limits[TEXT_LIMITS] = { 4, 64 };
	const struct report *report = text->report;
	const struct report_waits *waits = &report->waits;
	VEC(const void *) rows = { 0 };
	size_t shown;

	if (report->filtering || report_only_counts(report))
		return;
	for (size_t i = 0; i < waits->times.len; i++)
		if (waits->times.data[i].calls && report_process_span(report, (int)i))
			vec_push(&rows, &waits->times.data[i]);
	shown = text_limit(text, rows.len, limits);
	if (shown) {
		qsort_r(rows.data, rows.len, sizeof(*rows.data), by_rank,
			(void *)(uintptr_t)report);
		table_print(text->out, text->options,
			    &(struct report_table){ columns, ARRAY_SIZE(columns), text, rows.data,
						    shown });
		text_end(text, shown, rows.len);
	}
	vec_release(&rows);
}
