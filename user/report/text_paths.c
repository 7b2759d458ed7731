// SPDX-License-Identifier: BSD-3-Clause
#include <string.h>

#include "report/text.h"
#include "report/units.h"

enum { P_TRANSPORT, P_DEVICE, P_OP, P_PROTOCOL, P_LOCALITY, P_KIND };

static const struct cube_shape path_shape = {
	6,
	{
		[P_TRANSPORT] = { "transport", CUBE_STRING, "unknown" },
		[P_DEVICE] = { "device", CUBE_STRING, "unknown" },
		[P_OP] = { "op", CUBE_STRING, "unknown" },
		[P_PROTOCOL] = { "protocol", CUBE_STRING, "unknown" },
		[P_LOCALITY] = { "locality", CUBE_LOCALITY, NULL },
		[P_KIND] = { "kind", CUBE_KIND, NULL },
	},
};

struct paths {
	const struct text *text;
	struct cube data, control; /* copies are with the data, but no share of it */
	uint64_t data_bytes;
};

static const char *word(const void *row, int key)
{
	return cube_key_text(&path_shape.keys[key], ((const struct cube_row *)row)->key[key]);
}

static const struct cube_sums *sums(const void *row)
{
	return &((const struct cube_row *)row)->sums;
}

static bool is_data(const void *row)
{
	return ((const struct cube_row *)row)->key[P_KIND] == KIND_DATA;
}

static bool is_control(const void *row)
{
	return ((const struct cube_row *)row)->key[P_KIND] == KIND_CONTROL;
}

static bool exact(const void *context)
{
	return ((const struct paths *)context)->text->options->exact;
}

static void print_path(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s/%s", word(row, P_TRANSPORT), word(row, P_DEVICE));
}

static void print_op(char *cell, size_t size, const void *row, const void *context)
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
	(void)context;
	snprintf(cell, size, "%s", word(row, P_KIND));
}

static void print_count(char *cell, size_t size, const void *row, const void *context)
{
	unit_count(cell, size, sums(row)->count, exact(context));
}

static void print_bytes(char *cell, size_t size, const void *row, const void *context)
{
	unit_bytes(cell, size, sums(row)->bytes, exact(context));
}

static void print_share(char *cell, size_t size, const void *row, const void *context)
{
	if (is_data(row))
		unit_share(cell, size, sums(row)->bytes,
			   ((const struct paths *)context)->data_bytes);
	else
		snprintf(cell, size, "-");
}

static void print_mean(char *cell, size_t size, const void *row, const void *context)
{
	const struct paths *paths = context;

	if (sums(row)->timed)
		text_time(paths->text, cell, size, sums(row)->time_sum / sums(row)->timed,
			  sums(row)->precisions);
	else
		snprintf(cell, size, "unknown");
}

static void print_retries(char *cell, size_t size, const void *row, const void *context)
{
	unit_count(cell, size, sums(row)->retries, exact(context));
}

static const struct table_column columns[] = {
	{ "PATHS", true, 18, 0, print_path },       { "op", true, 0, 0, print_op },
	{ "protocol", true, 8, 2, print_protocol }, { "locality", true, 0, 3, print_locality },
	{ "kind", true, 0, 0, print_kind },         { "count", false, 0, 0, print_count },
	{ "bytes", false, 0, 0, print_bytes },      { "share", false, 0, 0, print_share },
	{ "mean time", false, 0, 4, print_mean },   { "retries", false, 0, 5, print_retries },
};

/* By default a line per transport is enough for UCX's own traffic. */
static void collect(struct paths *paths, const struct cube_row *row)
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
	};

	cube_sums_add(&cube_at(control ? &paths->control : &paths->data, key)->sums, &row->sums);
	if (row->key[T_KIND] == KIND_DATA)
		paths->data_bytes += row->sums.bytes;
}

void text_paths(const struct text *text)
{
	static const size_t data_limits[TEXT_LIMITS] = { 5, 40 };
	static const size_t control_limits[TEXT_LIMITS] = { 1, 20 };
	const struct cube *transfers = &text->report->transfers;
	struct paths paths = { .text = text };
	const struct cube_row **data, **control, **rows;
	size_t data_count, control_count, room = 0;

	cube_init(&paths.data, &path_shape);
	cube_init(&paths.control, &path_shape);
	for (size_t i = 0; i < transfers->rows.len; i++)
		collect(&paths, &transfers->rows.data[i]);
	data = cube_sorted(&paths.data, CUBE_BY_BYTES);
	control = cube_sorted(&paths.control, CUBE_BY_BYTES);
	data_count = text_limit(text, paths.data.rows.len, data_limits);
	control_count = text_limit(text, paths.control.rows.len, control_limits);
	rows = vec_grow(NULL, &room, data_count + control_count + 1, sizeof(*rows));
	memcpy(rows, data, data_count * sizeof(*rows));
	memcpy(rows + data_count, control, control_count * sizeof(*rows));
	if (data_count + control_count) {
		table_print(text->out, text->options,
			    &(struct table){ columns, text->options->verbose ? 10 : 9, &paths,
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
}
