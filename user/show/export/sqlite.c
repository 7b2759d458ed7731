// SPDX-License-Identifier: BSD-3-Clause
/* Every event in a database (docs/sqlite.md). */
#include "show/export/sql.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "show/export/export.h"
#include "show/export/totals.h"

struct sqlite_export {
	struct sql sql;
	struct sql_tables tables;
	sqlite3_stmt *total;
};

static void take(void *arg, enum fact_type type, const void *fact, const struct fact_sums *sums)
{
	struct sqlite_export *state = arg;

	sql_tables_add(&state->tables, type, fact, sums);
}

static struct fact_sink sink(void *arg)
{
	return (struct fact_sink){ arg, take };
}

static void put_total(void *arg, const char *section, const char *name, const char *reason,
		      const json_t *value)
{
	struct sqlite_export *state = arg;

	sql_bind_text(state->total, 1, section);
	sql_bind_text(state->total, 2, name);
	sql_bind_text(state->total, 3, reason);
	if (json_is_integer(value))
		sqlite3_bind_int64(state->total, 4, json_integer_value(value));
	else
		sql_bind_text(state->total, 4, json_string_value(value));
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

static void *sqlite_export_begin(struct export_target *target, int *err)
{
	struct sqlite_export *state = xcalloc(1, sizeof(*state));

	(void)err;
	sql_open(&state->sql, target->path, target->why);
	sql_tables_open(&state->tables, &state->sql);
	sql_run(&state->sql, "CREATE TABLE total ( -- of whole captures, whatever the filter\n"
			     "  section TEXT NOT NULL, name TEXT, reason TEXT, value\n)");
	state->total = sql_insert(&state->sql, "total", 4);
	put_totals(state, json_pack("{s:s, s:o}", "schema", "ucxbpf.sqlite/1", "filter",
				    report_filter_json(target->request->filter)));
	return state; /* errors are reported at the end */
}

static void finalize(struct sqlite_export *state)
{
	sql_tables_release(&state->tables);
	sqlite3_finalize(state->total);
	state->total = NULL;
}

static int sqlite_export_end(void *arg, const struct fact_totals *totals)
{
	struct sqlite_export *state = arg;

	put_totals(state, report_totals_json(totals));
	finalize(state);
	sql_views(&state->sql);
	return sql_close(&state->sql);
}

static void sqlite_export_free(void *arg)
{
	struct sqlite_export *state = arg;

	finalize(state);
	sql_close(&state->sql);
	free(state);
}

const struct export_format export_sqlite = {
	.name = "sqlite",
	.help = "every event in an SQLite database, with views for common questions",
	.place = EXPORT_FILE,
	.binary = true,
	.begin = sqlite_export_begin,
	.sink = sink,
	.end = sqlite_export_end,
	.free = sqlite_export_free,
};
