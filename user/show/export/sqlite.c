// SPDX-License-Identifier: BSD-3-Clause
/* Every event in a database (docs/sqlite.md). */
#include "show/export/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "show/export/export.h"
#include "show/export/totals.h"

/* Tables of the report that come from more than sums of events; their columns are those of CSV. */
static const char *const report_tables[] = { "hosts", "clocks", "nics", "routes", "time" };

#define REPORT_TABLES ARRAY_SIZE(report_tables)

struct sqlite_export {
	struct sql sql;
	struct sql_tables tables;
	struct selection selection; /* of the events; the report has its own */
	struct report *report;
	sqlite3_stmt *total, *of_report[REPORT_TABLES];
};

static void take(void *arg, enum fact_type type, const void *fact, const struct fact_sums *sums)
{
	struct sqlite_export *state = arg;
	const struct fact_sink report = report_sink(state->report);

	report.fact(report.arg, type, fact, sums);
	if (selection_passes(&state->selection, type, fact))
		sql_tables_add(&state->tables, type, fact, sums);
}

static struct fact_sink sink(void *arg)
{
	return (struct fact_sink){ arg, take };
}

static void bind_json(sqlite3_stmt *row, int at, const json_t *value)
{
	if (json_is_integer(value) || json_is_boolean(value))
		sqlite3_bind_int64(row, at, json_is_true(value) ? 1 : json_integer_value(value));
	else
		sql_bind_text(row, at, json_string_value(value));
}

static void put_total(void *arg, const char *section, const char *name, const char *reason,
		      const json_t *value)
{
	struct sqlite_export *state = arg;

	sql_bind_text(state->total, 1, section);
	sql_bind_text(state->total, 2, name);
	sql_bind_text(state->total, 3, reason);
	bind_json(state->total, 4, value);
	sql_step(&state->sql, state->total);
}

static void put_totals(struct sqlite_export *state, json_t *members)
{
	const struct totals_sink rows = { state, put_total };
	const char *name;
	json_t *value;

	json_object_foreach(members, name, value) totals_rows(&rows, name, value);
	json_decref(members);
}

static void open_report_tables(struct sqlite_export *state)
{
	for (size_t i = 0; i < REPORT_TABLES; i++) {
		char *text = NULL, name[32];
		const char *const *columns = csv_columns(report_tables[i]);
		size_t size;
		int count = 0;
		FILE *out = xmemstream(&text, &size);

		snprintf(name, sizeof(name), "raw_%s", report_tables[i]);
		fprintf(out, "CREATE TABLE %s (", name);
		for (; columns[count]; count++)
			fprintf(out, "%s%s", count ? ", " : "", columns[count]);
		fputs(")", out);
		fclose(out);
		sql_run(&state->sql, text);
		free(text);
		state->of_report[i] = sql_insert(&state->sql, name, count);
	}
}

/* An unknown value is a word in the report, and null in a database. */
static const json_t *known(const json_t *value)
{
	const char *text = json_string_value(value);

	return text && !strcmp(text, "unknown") ? NULL : value;
}

static void take_row(void *arg, const char *table, const json_t *row)
{
	struct sqlite_export *state = arg;

	for (size_t i = 0; i < REPORT_TABLES; i++) {
		const char *const *columns = csv_columns(report_tables[i]);

		if (strcmp(table, report_tables[i]) != 0)
			continue;
		for (int k = 0; columns[k]; k++)
			bind_json(state->of_report[i], k + 1,
				  known(json_object_get(row, columns[k])));
		sql_step(&state->sql, state->of_report[i]);
	}
}

static void skip_member(void *arg, const char *name, const json_t *value)
{
	(void)arg;
	(void)name;
	(void)value;
}

static void skip_table(void *arg, const char *name)
{
	(void)arg;
	(void)name;
}

static void *sqlite_export_begin(struct export_target *target, int *err)
{
	struct sqlite_export *state = xcalloc(1, sizeof(*state));

	(void)err;
	sql_open(&state->sql, target->path, target->why);
	sql_tables_open(&state->tables, &state->sql);
	open_report_tables(state);
	state->report = report_new(target->request->filter);
	selection_init(&state->selection, target->request->filter);
	sql_run(&state->sql, "CREATE TABLE total ( -- of whole captures, whatever the filter\n"
			     "  section TEXT NOT NULL, name TEXT, reason TEXT, value\n)");
	state->total = sql_insert(&state->sql, "total", 4);
	put_totals(state, json_pack("{s:s, s:o}", "schema", "ucxbpf.sqlite/2", "filter",
				    report_filter_json(target->request->filter)));
	return state; /* errors are reported at the end */
}

static void finalize(struct sqlite_export *state)
{
	sql_tables_release(&state->tables);
	sqlite3_finalize(state->total);
	state->total = NULL;
	for (size_t i = 0; i < REPORT_TABLES; i++) {
		sqlite3_finalize(state->of_report[i]);
		state->of_report[i] = NULL;
	}
}

static int sqlite_export_end(void *arg, const struct fact_totals *totals)
{
	struct sqlite_export *state = arg;

	const struct report_visitor visitor = { state, skip_member, skip_table, take_row };

	put_totals(state, report_totals_json(totals));
	report_finish(state->report, totals);
	report_visit(state->report, &visitor);
	finalize(state);
	sql_views(&state->sql);
	return sql_close(&state->sql);
}

static void sqlite_export_free(void *arg)
{
	struct sqlite_export *state = arg;

	finalize(state);
	sql_close(&state->sql);
	selection_release(&state->selection);
	report_free(state->report);
	free(state);
}

const struct export_format export_sqlite = {
	.name = "sqlite",
	.help = "every event in an SQLite database, with views for common questions",
	.place = EXPORT_FILE,
	.binary = true,
	.unfiltered = true,
	.begin = sqlite_export_begin,
	.sink = sink,
	.end = sqlite_export_end,
	.free = sqlite_export_free,
};
