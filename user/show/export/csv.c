// SPDX-License-Identifier: BSD-3-Clause
/* The report's tables as CSV: a file each, or one of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "show/export/csv_cell.h"
#include "show/export/csv_tables.h"
#include "show/export/export.h"
#include "show/export/totals.h"

struct state {
	struct report *report;
	struct export_target *target;
	FILE *files[CSV_MAX_TABLES]; /* by number of the table; NULL: not begun */
	bool found; /* the table that was asked for */
	int err; /* of the first file that could not be written */
};

static bool wanted(const struct state *state, const struct csv_table *table)
{
	const char *only = state->target->request->table;

	return !only || !strcmp(only, table->name);
}

static FILE *open_table(struct state *state, const struct csv_table *table)
{
	char *path = NULL;
	FILE *file;

	if (!state->target->path)
		return state->target->file;
	if (asprintf(&path, "%s/%s.csv", state->target->path, table->name) < 0)
		abort();
	file = fopen(path, "we");
	if (!file && !state->err)
		state->err = -errno;
	free(path);
	return file;
}

/* The file of a table, with its header; NULL: not wanted, or it cannot be. */
static FILE *file_of(struct state *state, const char *name)
{
	const struct csv_table *table = csv_table_find(name);
	FILE **file = table ? &state->files[table - csv_table_at(0)] : NULL;

	if (!table || !wanted(state, table))
		return NULL;
	if (!*file) {
		state->found = true;
		*file = open_table(state, table);
		if (*file)
			csv_header(*file, table->columns);
	}
	return *file;
}

static void begin_table(void *arg, const char *name)
{
	file_of(arg, name);
}

static void put_row(struct state *state, const char *table, const json_t *row)
{
	FILE *file = file_of(state, table);

	if (file)
		csv_row(file, csv_table_find(table)->columns, row);
}

/* Lists in a row are a table of their own, with members of the row. */
static const struct {
	const char *of, *list, *table;
	const char *members[3][2]; /* name in the list's row, name in the row */
} lists[] = {
	{ "processes", "ucx", "ucx", { { "process", "id" } } },
	{ "processes", "environment", "environment", { { "process", "id" } } },
	{ "devices", "processes", "device_users", { { "host", "host" }, { "name", "name" } } },
};

static void put_list(struct state *state, size_t at, const json_t *row)
{
	json_t *item;
	size_t i;

	file_of(state, lists[at].table);
	json_array_foreach(json_object_get(row, lists[at].list), i, item)
	{
		json_t *copy = json_copy(item);

		for (int k = 0; lists[at].members[k][0]; k++)
			json_object_set(copy, lists[at].members[k][0],
					json_object_get(row, lists[at].members[k][1]));
		put_row(state, lists[at].table, copy);
		json_decref(copy);
	}
}

static void take_row(void *arg, const char *table, const json_t *row)
{
	put_row(arg, table, row);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (!strcmp(table, lists[i].of))
			put_list(arg, i, row);
}

static void put_total(void *arg, const char *section, const char *name, const char *reason,
		      const json_t *value)
{
	json_t *row = json_pack("{s:s, s:s?, s:s?, s:O}", "section", section, "name", name,
				"reason", reason, "value", value);

	put_row(arg, "totals", row);
	json_decref(row);
}

static void take_member(void *arg, const char *name, const json_t *value)
{
	totals_rows(&(struct totals_sink){ arg, put_total }, name, value);
}

static void say_tables(struct export_target *target)
{
	size_t len = (size_t)snprintf(target->why, sizeof(target->why), "no table '%.40s', but",
				      target->request->table);

	for (size_t i = 0; csv_table_at(i) && len < sizeof(target->why); i++)
		len += (size_t)snprintf(target->why + len, sizeof(target->why) - len, "%s %s",
					i ? "," : "", csv_table_at(i)->name);
}

static void *begin(struct export_target *target, int *err)
{
	const char *only = target->request->table;
	struct state *state = calloc(1, sizeof(*state));

	*err = -ENOMEM;
	if (!state)
		return NULL;
	if (only && !csv_table_find(only)) {
		say_tables(target);
		*err = -EINVAL;
		free(state);
		return NULL;
	}
	*state = (struct state){ .report = report_new(target->request->filter), .target = target };
	return state;
}

static struct fact_sink sink(void *arg)
{
	struct state *state = arg;

	return report_sink(state->report);
}

static void close_files(struct state *state)
{
	for (size_t i = 0; state->target->path && i < CSV_MAX_TABLES; i++) {
		FILE *file = state->files[i];
		bool failed = file && (fflush(file) || ferror(file));

		if (failed && !state->err)
			state->err = errno ? -errno : -EIO;
		if (file && fclose(file) && !state->err)
			state->err = -errno;
		state->files[i] = NULL;
	}
}

static int end(void *arg, const struct fact_totals *totals)
{
	struct state *state = arg;
	const struct report_visitor visitor = { state, take_member, begin_table, take_row };

	report_finish(state->report, totals);
	errno = 0;
	report_visit(state->report, &visitor);
	close_files(state);
	if (state->found || state->err)
		return state->err;
	snprintf(state->target->why, sizeof(state->target->why),
		 "nothing written: the captures have nothing for table '%s'",
		 state->target->request->table);
	return -ENODATA;
}

static void release(void *arg)
{
	struct state *state = arg;

	close_files(state);
	report_free(state->report);
	free(state);
}

const struct export_format export_csv = {
	.name = "csv",
	.help = "the report's tables, a file each in directory OUT; --table: one",
	.place = EXPORT_DIRECTORY,
	.has_tables = true,
	.unfiltered = true,
	.begin = begin,
	.sink = sink,
	.end = end,
	.free = release,
};
