// SPDX-License-Identifier: BSD-3-Clause
/* Transfers by path, and the slowest transfers. */
#include "show/report/text.h"

#include <string.h>

#include "base/units.h"

struct path_cubes {
	const struct text_report *text;
	struct cube data, control; /* copies are listed with the data, but have no share of it */
	uint64_t data_bytes;
	struct durations durations;
};

static const char *word(const void *row, int key)
{
	return cube_key_text(&report_path_shape.keys[key],
			     ((const struct cube_row *)row)->key[key]);
}

static bool is_data(const void *row)
{
	return ((const struct cube_row *)row)->key[P_KIND] == KIND_DATA;
}

static bool is_control(const void *row)
{
	return ((const struct cube_row *)row)->key[P_KIND] == KIND_CONTROL;
}

static bool paths_exact(const void *context)
{
	return ((const struct path_cubes *)context)->text->options->exact;
}

static void paths_print_path(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s/%s", word(row, P_TRANSPORT), word(row, P_DEVICE));
}

static void paths_print_op(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", word(row, P_OP));
}

static void print_protocol(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", is_control(row) ? "-" : word(row, P_PROTOCOL));
}

static void print_locality(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", word(row, P_LOCALITY));
}

static void print_kind(char *cell, size_t size, const void *row, const void *context)
{
	const char *path = word(row, P_DATA_PATH);

	(void)context;
	snprintf(cell, size, "%s", strcmp(path, "emulated") ? word(row, P_KIND) : path);
}

static void print_initiator(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", word(row, P_INITIATOR));
}

static void print_memory(char *cell, size_t size, const void *row, const void *context)
{
	const struct path_cubes *paths = context;

	if (is_control(row))
		snprintf(cell, size, "-");
	else
		snprintf(cell, size, "%s %s %s", word(row, P_SRC_MEM), paths->text->arrow,
			 word(row, P_DST_MEM));
}

static void print_count(char *cell, size_t size, const void *row, const void *context)
{
	unit_count(cell, size, text_row_sums(row)->count, paths_exact(context));
}

static void paths_print_bytes(char *cell, size_t size, const void *row, const void *context)
{
	unit_bytes(cell, size, text_row_sums(row)->bytes, paths_exact(context));
}

static void print_share(char *cell, size_t size, const void *row, const void *context)
{
	if (is_data(row))
		unit_share(cell, size, text_row_sums(row)->bytes,
			   ((const struct path_cubes *)context)->data_bytes);
	else
		snprintf(cell, size, "-");
}

static void print_mean(char *cell, size_t size, const void *row, const void *context)
{
	const struct path_cubes *paths = context;

	text_mean(paths->text, cell, size, text_row_sums(row));
}

static void print_quantile(char *cell, size_t size, const void *row, const void *context,
			   unsigned int percent)
{
	const struct path_cubes *paths = context;
	const struct spread *spread =
		durations_of(&paths->durations, ((const struct cube_row *)row)->key);

	if (spread)
		unit_time(cell, size, spread_quantile(spread, percent), paths_exact(context));
	else
		snprintf(cell, size, "-");
}

static void print_median(char *cell, size_t size, const void *row, const void *context)
{
	print_quantile(cell, size, row, context, 50);
}

static void print_p99(char *cell, size_t size, const void *row, const void *context)
{
	print_quantile(cell, size, row, context, 99);
}

static void print_rate(char *cell, size_t size, const void *row, const void *context)
{
	const struct cube_sums *sums = text_row_sums(row);

	(void)context;
	if (sums->exact_bytes && sums->exact_time)
		snprintf(cell, size, "%.2f GB/s", (double)sums->exact_bytes / sums->exact_time);
	else
		snprintf(cell, size, "-");
}

static void print_retries(char *cell, size_t size, const void *row, const void *context)
{
	unit_count(cell, size, text_row_sums(row)->retries, paths_exact(context));
}

#define MAX_COLUMNS 15

static const struct text_column {
	struct table_column column;
	bool verbose, memory; /* only then */
} path_columns[MAX_COLUMNS] = {
	{ .column = { "PATHS", true, 18, 0, paths_print_path } },
	{ .column = { "op", true, 0, 0, paths_print_op } },
	{ .column = { "by", true, 0, 1, print_initiator } },
	{ .column = { "protocol", true, 8, 2, print_protocol } },
	{ .column = { "memory", true, 0, 0, print_memory }, .memory = true },
	{ .column = { "locality", true, 0, 3, print_locality } },
	{ .column = { "kind", true, 0, 0, print_kind } },
	{ .column = { "count", false, 0, 0, print_count } },
	{ .column = { "bytes", false, 0, 0, paths_print_bytes } },
	{ .column = { "share", false, 0, 0, print_share } },
	{ .column = { "mean time", false, 0, 4, print_mean } },
	{ .column = { "median", false, 0, 7, print_median } },
	{ .column = { "p99", false, 0, 7, print_p99 } },
	{ .column = { "rate", false, 0, 6, print_rate } },
	{ .column = { "retries", false, 0, 5, print_retries }, .verbose = true },
};

static int wanted(const struct text_report *text, struct table_column *to)
{
	int count = 0;

	for (int i = 0; i < MAX_COLUMNS; i++)
		if ((!path_columns[i].verbose || text->options->verbose) &&
		    (!path_columns[i].memory || report_knows_memory(text->report)))
			to[count++] = path_columns[i].column;
	return count;
}

/* By default, control traffic gets one line per transport. */
static void paths_collect(struct path_cubes *paths, const struct cube_row *row)
{
	bool control = row->key[T_KIND] == KIND_CONTROL;
	bool fold = control && !paths->text->options->verbose;
	uint64_t key[CUBE_MAX_KEYS] = {
		[P_TRANSPORT] = row->key[T_TRANSPORT],
		[P_DEVICE] = row->key[T_DEVICE],
		[P_OP] = fold ? (uintptr_t) "all" : row->key[T_OP],
		[P_PROTOCOL] = fold ? 0 : row->key[T_PROTOCOL],
		[P_LOCALITY] = row->key[T_LOCALITY],
		[P_KIND] = row->key[T_KIND],
		[P_DATA_PATH] = row->key[T_DATA_PATH],
		[P_INITIATOR] = fold ? (uintptr_t) "-" : row->key[T_INITIATOR],
	};

	if (!control && report_knows_memory(paths->text->report)) {
		key[P_SRC_MEM] = row->key[T_SRC_MEM];
		key[P_DST_MEM] = row->key[T_DST_MEM];
	}

	cube_sums_add(&cube_at(control ? &paths->control : &paths->data, key)->sums, &row->sums);
	if (row->key[T_KIND] == KIND_DATA)
		paths->data_bytes += row->sums.bytes;
}

void text_paths(const struct text_report *text)
{
	static const size_t data_limits[TEXT_LIMITS] = { 5, 40 };
	static const size_t control_limits[TEXT_LIMITS] = { 1, 20 };
	const struct cube *transfers = &text->report->transfers;
	struct path_cubes paths = { .text = text, .durations = report_paths(text->report) };
	const struct cube_row **data, **control, **rows;
	struct table_column shown[MAX_COLUMNS];
	size_t data_count, control_count, room = 0;

	cube_init(&paths.data, &report_path_shape);
	cube_init(&paths.control, &report_path_shape);
	for (size_t i = 0; i < transfers->rows.len; i++)
		paths_collect(&paths, &transfers->rows.data[i]);
	data = cube_sorted(&paths.data, CUBE_BY_BYTES);
	control = cube_sorted(&paths.control, CUBE_BY_BYTES);
	data_count = text_limit(text, paths.data.rows.len, data_limits);
	control_count = text_limit(text, paths.control.rows.len, control_limits);
	rows = vec_grow(NULL, &room, data_count + control_count + 1, sizeof(*rows));
	memcpy(rows, data, data_count * sizeof(*rows));
	memcpy(rows + data_count, control, control_count * sizeof(*rows));
	if (data_count + control_count) {
		table_print(text->out, text->options,
			    &(struct report_table){ shown, wanted(text, shown), &paths,
						    (const void *const *)rows,
						    data_count + control_count });
		text_end(text, data_count + control_count,
			 paths.data.rows.len + paths.control.rows.len);
	}
	free(rows);
	free(data);
	free(control);
	cube_release(&paths.data);
	cube_release(&paths.control);
	durations_release(&paths.durations);
}

static const struct fact_transfer *transfer_of(const void *row)
{
	return row;
}

static void print_time(char *cell, size_t size, const void *row, const void *context)
{
	text_time(context, cell, size, slowest_time(row), 1u << transfer_of(row)->end_precision);
}

static void slowest_print_op(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", transfer_of(row)->op ? transfer_of(row)->op : "unknown");
}

static void slowest_print_path(char *cell, size_t size, const void *row, const void *context)
{
	const struct fact_transfer *transfer = row;

	(void)context;
	snprintf(cell, size, "%s/%s", transfer->transport ? transfer->transport : "unknown",
		 transfer->device ? transfer->device : "unknown");
}

static void slowest_print_bytes(char *cell, size_t size, const void *row, const void *context)
{
	if (transfer_of(row)->bytes == UINT64_MAX)
		snprintf(cell, size, "unknown");
	else
		unit_bytes(cell, size, transfer_of(row)->bytes, text_exact(context));
}

static void print_pair(char *cell, size_t size, const void *row, const void *context)
{
	const struct fact_transfer *transfer = row;
	const struct text_report *text = context;
	bool get = fact_fetches(transfer->op, transfer->transport);
	char from[32], to[32];

	text_process(text, from, sizeof(from), get ? transfer->peer : transfer->process);
	text_process(text, to, sizeof(to), get ? transfer->process : transfer->peer);
	snprintf(cell, size, "%s %s %s", from, text->arrow, to);
}

static void print_function(char *cell, size_t size, const void *row, const void *context)
{
	const struct fact_transfer *transfer = row;

	(void)context;
	snprintf(cell, size, "%s",
		 transfer->function ? transfer->function
				    : fact_outside(fact_caller(transfer->place)));
}

static void print_ucp_op(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", transfer_of(row)->ucp_op ? transfer_of(row)->ucp_op : "none");
}

static void print_start(char *cell, size_t size, const void *row, const void *context)
{
	const struct text_report *text = context;
	const struct report_process *process =
		report_process_at(text->report, transfer_of(row)->process);
	uint64_t first = 0;

	if (!process || process->fact.host < 0) {
		snprintf(cell, size, "unknown");
		return;
	}
	first = text->report->hosts.data[process->fact.host].first;
	unit_time(cell, size, transfer_of(row)->start - first, text_exact(context));
}

static const struct table_column slowest_columns[] = {
	{ "SLOWEST TRANSFERS", true, 0, 0, print_time },
	{ "op", true, 0, 0, slowest_print_op },
	{ "path", true, 12, 0, slowest_print_path },
	{ "bytes", false, 0, 0, slowest_print_bytes },
	{ "ranks", true, 0, 0, print_pair },
	{ "function", true, 12, 1, print_function },
	{ "ucp op", true, 0, 3, print_ucp_op },
	{ "at", false, 0, 2, print_start },
};

void text_slowest(const struct text_report *text)
{
	static const size_t limits[TEXT_LIMITS] = { 3, SLOWEST_MAX };
	const struct slowest *slowest = &text->report->slowest;
	size_t shown = text_limit(text, slowest->len, limits);
	const void *rows[SLOWEST_MAX];

	for (size_t i = 0; i < shown; i++)
		rows[i] = &slowest->transfers[i];
	if (!shown)
		return;
	table_print(text->out, text->options,
		    &(struct report_table){ slowest_columns, 8, text, rows, shown });
	fputc('\n', text->out);
}
