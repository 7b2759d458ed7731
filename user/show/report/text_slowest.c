// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/text.h"
#include "base/units.h"

static const struct fact_transfer *transfer_of(const void *row)
{
	return row;
}

static bool exact(const void *context)
{
	return ((const struct text *)context)->options->exact;
}

static void print_time(char *cell, size_t size, const void *row, const void *context)
{
	text_time(context, cell, size, slowest_time(row), 1u << transfer_of(row)->end_precision);
}

static void print_op(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", transfer_of(row)->op ? transfer_of(row)->op : "unknown");
}

static void print_path(char *cell, size_t size, const void *row, const void *context)
{
	const struct fact_transfer *transfer = row;

	(void)context;
	snprintf(cell, size, "%s/%s", transfer->transport ? transfer->transport : "unknown",
		 transfer->device ? transfer->device : "unknown");
}

static void print_bytes(char *cell, size_t size, const void *row, const void *context)
{
	if (transfer_of(row)->bytes == UINT64_MAX)
		snprintf(cell, size, "unknown");
	else
		unit_bytes(cell, size, transfer_of(row)->bytes, exact(context));
}

static void print_pair(char *cell, size_t size, const void *row, const void *context)
{
	const struct fact_transfer *transfer = row;
	const struct text *text = context;
	bool get = fact_fetches(transfer->op, transfer->transport);
	char from[32], to[32];

	text_process(text, from, sizeof(from), get ? transfer->peer : transfer->process);
	text_process(text, to, sizeof(to), get ? transfer->process : transfer->peer);
	snprintf(cell, size, "%s %s %s", from, text->arrow, to);
}

static void print_function(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s",
		 transfer_of(row)->function ? transfer_of(row)->function : "outside MPI");
}

static void print_ucp_op(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", transfer_of(row)->ucp_op ? transfer_of(row)->ucp_op : "none");
}

static void print_start(char *cell, size_t size, const void *row, const void *context)
{
	const struct text *text = context;
	const struct report_process *process =
		report_process_at(text->report, transfer_of(row)->process);
	uint64_t first = 0;

	if (!process || process->fact.host < 0) {
		snprintf(cell, size, "unknown");
		return;
	}
	first = text->report->hosts.data[process->fact.host].first;
	unit_time(cell, size, transfer_of(row)->start - first, exact(context));
}

static const struct table_column columns[] = {
	{ "SLOWEST TRANSFERS", true, 0, 0, print_time },
	{ "op", true, 0, 0, print_op },
	{ "path", true, 12, 0, print_path },
	{ "bytes", false, 0, 0, print_bytes },
	{ "ranks", true, 0, 0, print_pair },
	{ "function", true, 12, 1, print_function },
	{ "ucp op", true, 0, 3, print_ucp_op },
	{ "at", false, 0, 2, print_start },
};

void text_slowest(const struct text *text)
{
	static const size_t limits[TEXT_LIMITS] = { 3, SLOWEST_MAX };
	const struct slowest *slowest = &text->report->slowest;
	size_t shown = text_limit(text, slowest->len, limits);
	const void *rows[SLOWEST_MAX];

	for (size_t i = 0; i < shown; i++)
		rows[i] = &slowest->transfers[i];
	if (!shown)
		return;
	table_print(text->out, text->options, &(struct table){ columns, 8, text, rows, shown });
	fputc('\n', text->out);
}
