// SPDX-License-Identifier: BSD-3-Clause
#include <inttypes.h>

#include "base/units.h"
#include "show/report/text.h"

struct clock_row {
	const char *host, *other;
	const struct clock_pair *pair;
	struct clock_estimate estimate;
};

static const struct clock_row *row_of(const void *row)
{
	return row;
}

static void print_pair(char *cell, size_t size, const void *row, const void *context)
{
	const struct text *text = context;

	snprintf(cell, size, "%s %s %s", row_of(row)->host, text->arrow, row_of(row)->other);
}

static void print_messages(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%" PRIu64 " + %" PRIu64, row_of(row)->pair->there.messages,
		 row_of(row)->pair->back.messages);
}

/* The offset has as many digits as it takes: clocks count from when their machines started. */
static void print_offset(char *cell, size_t size, const void *row, const void *context)
{
	const struct clock_estimate *estimate = &row_of(row)->estimate;
	const struct text *text = context;
	char uncertainty[40];

	if (estimate->reason) {
		snprintf(cell, size, "unknown: %s", estimate->reason);
		return;
	}
	unit_time(uncertainty, sizeof(uncertainty), estimate->offset_uncertainty,
		  text->options->exact);
	snprintf(cell, size, "%" PRId64 " ns %s %s", estimate->offset,
		 text->options->utf8 ? "±" : "+-", uncertainty);
}

static void print_drift(char *cell, size_t size, const void *row, const void *context)
{
	const struct clock_estimate *estimate = &row_of(row)->estimate;
	const struct text *text = context;

	if (estimate->reason)
		snprintf(cell, size, "-");
	else
		snprintf(cell, size, "%.2f %s %.2f ppm", estimate->drift / 1e3,
			 text->options->utf8 ? "±" : "+-", estimate->drift_uncertainty / 1e3);
}

static const struct table_column columns[] = {
	{ "CLOCKS", true, 0, 0, print_pair },
	{ "messages", false, 0, 0, print_messages },
	{ "ahead by", true, 0, 0, print_offset },
	{ "faster by", true, 0, 0, print_drift },
};

static const char *name_of(const struct report *report, int host)
{
	return report->hosts.data[host].name ? report->hosts.data[host].name : "?";
}

void text_clocks(const struct text *text)
{
	static const size_t limits[TEXT_LIMITS] = { 4, 40 };
	const struct report *report = text->report;
	const struct clocks *clocks = &report->clocks;
	VEC(struct clock_row) list = { 0 };
	VEC(const void *) rows = { 0 };
	size_t shown = text_limit(text, clocks->list.len, limits);

	if (!clocks->list.len)
		return;
	for (size_t i = 0; i < shown; i++) {
		const struct clock_pair *pair = &clocks->list.data[i];

		vec_push(&list, ((struct clock_row){ name_of(report, pair->host),
						     name_of(report, pair->other), pair,
						     clocks_solve(pair) }));
	}
	for (size_t i = 0; i < list.len; i++)
		vec_push(&rows, &list.data[i]);
	table_print(text->out, text->options,
		    &(struct table){ columns, sizeof(columns) / sizeof(*columns), text, rows.data,
				     rows.len });
	text_end(text, shown, clocks->list.len);
	vec_release(&rows);
	vec_release(&list);
}
