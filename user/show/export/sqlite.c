// SPDX-License-Identifier: BSD-3-Clause
/* Every event in a database, with views that answer the common questions (docs/sqlite.md). */
#include <errno.h>
#include <stdlib.h>

#include "show/export/export.h"
#include "show/export/fields.h"
#include "show/export/sql_tables.h"
#include "show/export/totals.h"

struct state {
	struct sql sql;
	struct rows rows;
	struct sql_tables tables;
	sqlite3_stmt *total;
};

static void take(void *arg, enum subject subject, const void *fact, const struct fact_sums *sums)
{
	struct state *state = arg;

	sql_tables_add(&state->tables, subject, fact, sums);
}

static struct fact_sink sink(void *arg)
{
	struct state *state = arg;

	return rows_sink(&state->rows);
}

static void put_total(void *arg, const char *section, const char *name, const char *reason,
		      const json_t *value)
{
	struct state *state = arg;

	sql_bind_text(state->total, 1, section);
	sql_bind_text(state->total, 2, name);
	sql_bind_text(state->total, 3, reason);
	if (json_is_integer(value))
		sqlite3_bind_int64(state->total, 4, json_integer_value(value));
	else
		sql_bind_text(state->total, 4, json_string_value(value));
	sql_step(&state->sql, state->total);
}

static void put_totals(struct state *state, json_t *members)
{
	const struct totals_sink rows = { state, put_total };
	const char *name;
	json_t *value;

	json_object_foreach(members, name, value) totals_rows(&rows, name, value);
	json_decref(members);
}

static void *begin(struct export_target *target, int *err)
{
	struct state *state = calloc(1, sizeof(*state));

	*err = -ENOMEM;
	if (!state)
		return NULL;
	state->rows = (struct rows){ state, take };
	sql_open(&state->sql, target->path, target->why);
	sql_tables_open(&state->tables, &state->sql);
	sql_run(&state->sql, "CREATE TABLE total ( -- of whole captures, whatever the filter\n"
			     "  section TEXT NOT NULL, name TEXT, reason TEXT, value\n)");
	state->total = sql_insert(&state->sql, "total", 4);
	put_totals(state, json_pack("{s:s, s:o}", "schema", "ucxbpf.sqlite/1", "filter",
				    report_filter_json(target->request->filter)));
	return state; /* an error is told at the end */
}

static void finalize(struct state *state)
{
	sql_tables_release(&state->tables);
	sqlite3_finalize(state->total);
	state->total = NULL;
}

static int end(void *arg, const struct fact_totals *totals)
{
	struct state *state = arg;

	rows_finish(&state->rows, totals);
	put_totals(state, report_totals_json(totals));
	finalize(state);
	sql_views(&state->sql);
	return sql_close(&state->sql);
}

static void release(void *arg)
{
	struct state *state = arg;

	finalize(state);
	sql_close(&state->sql);
	free(state);
}

const struct export_format export_sqlite = {
	.name = "sqlite",
	.help = "every event in a database, with views for the common questions",
	.place = EXPORT_FILE,
	.binary = true,
	.begin = begin,
	.sink = sink,
	.end = end,
	.free = release,
};
