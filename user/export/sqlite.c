// SPDX-License-Identifier: BSD-3-Clause
/* Every event in a database, with views that answer the common questions (docs/sqlite.md). */
#include <errno.h>
#include <stdlib.h>

#include "export/formats.h"
#include "export/sql_tables.h"
#include "export/totals.h"

struct state {
	struct sql sql;
	struct sql_tables tables;
	sqlite3_stmt *total;
};

static void take_process(void *arg, const struct fact_process *process)
{
	struct state *state = arg;

	sql_tables_add(&state->tables, SUBJECT_PROCESS, process, NULL);
	for (int i = 0; i < process->ucx_count; i++)
		sql_tables_add_ucx(&state->tables, process->index, &process->ucx[i]);
}

static void take_clock(void *arg, const struct fact_clock *clock)
{
	sql_tables_add(&((struct state *)arg)->tables, SUBJECT_CLOCK, clock, NULL);
}

static void take_call(void *arg, const struct fact_call *call)
{
	sql_tables_add(&((struct state *)arg)->tables, SUBJECT_CALL, call, NULL);
}

static void take_op(void *arg, const struct fact_op *op)
{
	sql_tables_add(&((struct state *)arg)->tables, SUBJECT_OP, op, NULL);
}

static void take_transfer(void *arg, const struct fact_transfer *transfer)
{
	sql_tables_add(&((struct state *)arg)->tables, SUBJECT_TRANSFER, transfer, NULL);
}

static void take_message(void *arg, const struct fact_message *message)
{
	sql_tables_add(&((struct state *)arg)->tables, SUBJECT_MESSAGE, message, NULL);
}

static void take_window(void *arg, const struct fact_window *window)
{
	sql_tables_add(&((struct state *)arg)->tables, SUBJECT_WINDOW, window, NULL);
}

static void take_memory(void *arg, const struct fact_memory *memory)
{
	sql_tables_add(&((struct state *)arg)->tables, SUBJECT_MEMORY, memory, NULL);
}

static void take_calls(void *arg, const struct fact_call *call, const struct fact_sums *sums)
{
	sql_tables_add(&((struct state *)arg)->tables, SUBJECT_CALLS, call, sums);
}

static void take_ops(void *arg, const struct fact_op *op, const struct fact_sums *sums)
{
	sql_tables_add(&((struct state *)arg)->tables, SUBJECT_OPS, op, sums);
}

static void take_transfers(void *arg, const struct fact_transfer *transfer,
			   const struct fact_sums *sums)
{
	sql_tables_add(&((struct state *)arg)->tables, SUBJECT_TRANSFERS, transfer, sums);
}

static struct fact_sink sink(void *arg)
{
	return (struct fact_sink){
		.arg = arg,
		.process = take_process,
		.clock = take_clock,
		.call = take_call,
		.op = take_op,
		.transfer = take_transfer,
		.message = take_message,
		.window = take_window,
		.memory = take_memory,
		.calls = take_calls,
		.ops = take_ops,
		.transfers = take_transfers,
	};
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
	.help = "every event in a database, views for the common questions: docs/sqlite.md",
	.place = EXPORT_FILE,
	.binary = true,
	.begin = begin,
	.sink = sink,
	.end = end,
	.free = release,
};
