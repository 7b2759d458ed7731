// SPDX-License-Identifier: BSD-3-Clause
/*
 * The report's tables as CSV (RFC 4180, lines end in \n): one file per table, or a single table.
 * Texts are quoted, on one line, and cannot start like a formula; null is an empty cell.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/newfile.h"
#include "base/text.h"
#include "base/vec.h"
#include "show/export/export.h"
#include "show/export/totals.h"

#define CSV_MAX_TABLES 40
#define CSV_MAX_COLUMNS 32

/* The columns of a table of the report, in order. */
struct csv_table {
	const char *name;
	/*
	 * Members of a row; "a.b" is member b of a, and '_' replaces the dot in the header.
	 * "name<member" is a column with the rank of the process whose number the member is.
	 */
	const char *columns[CSV_MAX_COLUMNS];
};

#define TIME                                                                                       \
	"time.known", "time.sum_ns", "time.min_ns", "time.max_ns", "time.precision", "time.exact", \
		"time.exact_sum_ns", "time.exact_bytes"
#define PLACE                                                                                      \
	"label", "module", "build_id", "offset", "symbol", "demangled", "symbol_offset", "file",   \
		"line", "address", "reason"

static const struct csv_table tables[] = {
	{ "totals", { "section", "name", "reason", "value" } },
	{ "hosts", { "id", "name", "boot_id", "span_ns" } },
	{ "processes",
	  { "id", "host", "pid", "tgid", "start_time", "comm", "exe", "job", "rank", "size", "mpi",
	    "ucx_unknown", "environment_cut", "cpus", "seen_from", "exit_status", "exit_signal" } },
	{ "ucx", { "process", "rank<process", "path", "build_id", "version", "layout" } },
	{ "environment", { "process", "rank<process", "name", "value" } },
	{ "windows", { "host", "capture", "from_ns", "to_ns", "step", "reason", "paid_ppm" } },
	{ "clocks",
	  { "host", "other", "there", "back", "at_ns", "offset_ns", "offset_uncertainty_ns",
	    "drift_ppb", "drift_uncertainty_ppb", "reason" } },
	{ "calls",
	  { "process", "rank<process", "function", "count", "ops", "ops_unknown", "bytes",
	    "bytes_unknown", TIME, "time_most_ns" } },
	{ "ops",
	  { "process", "rank<process", "op", "function", "protocol", "memory", "memory_reason",
	    "memory_known_by", "count", "bytes", "bytes_unknown", "errors", TIME } },
	{ "transfers", { "process",
			 "rank<process",
			 "peer",
			 "peer_rank<peer",
			 "op",
			 "transport",
			 "device",
			 "locality",
			 "kind",
			 "data_path",
			 "initiator",
			 "ucp_op",
			 "function",
			 "protocol",
			 "src_mem",
			 "dst_mem",
			 "src_reason",
			 "dst_reason",
			 "count",
			 "bytes",
			 "bytes_unknown",
			 "retries",
			 "wire_bytes",
			 "unexplained_bytes",
			 TIME } },
	{ "messages",
	  { "src", "src_rank<src", "dst", "dst_rank<dst", "function", "src_mem", "dst_mem",
	    "src_reason", "dst_reason", "chain", "via", "chain_reason", "copies", "copy_bytes",
	    "count", "bytes", "bytes_unknown" } },
	{ "path_times",
	  { "transport", "device", "op", "protocol", "locality", "kind", "data_path", "initiator",
	    "src_mem", "dst_mem", "exact", "exact_median_ns", "exact_p99_ns" } },
	{ "nics",
	  { "host", "device", "direction", "count", "bytes", "bytes_unknown", "wire_bytes" } },
	{ "routes",
	  { "src_host", "src_mem", "src_nic", "dst_nic", "dst_host", "dst_mem", "count", "bytes",
	    "bytes_unknown", "wire_bytes" } },
	{ "functions",
	  { "function", "calls", "callers", "time_ns", "precision", "span_ns", "least_ns",
	    "least_process", "least_rank", "most_ns", "most_process", "most_rank", "imbalance",
	    "exact", "exact_median_ns", "exact_p99_ns" } },
	{ "sizes",
	  { "from_bytes", "most_bytes", "messages", "bytes", "known", "unexpected",
	    "unexpected_bytes" } },
	{ "protocols",
	  { "function", "op", "locality", "memory", "protocol", "count", "bytes", "least_bytes",
	    "most_bytes" } },
	{ "open", { "process",     "rank",         "function",
		    "call_site",   "op",           "peer",
		    "peer_rank",   "tag",          "peer_certain",
		    "step",        "step_reason",  "bytes",
		    "moved_bytes", "communicator", "context",
		    "sequence",    "sequence_by",  "sequence_reason",
		    "since_ns",    "age_ns",       "bound",
		    "certain" } },
	{ "behind",
	  { "members", "ranks", "mutual", "traced", "certain", "waiting", "not_entered",
	    "not_entered_sequence", "entered", "apart", "state", "function", "call_site", "outside",
	    "reason" } },
	{ "threads",
	  { "process", "rank", "tid", "state", "function", "call_site", "outside", "reason",
	    "at_ns" } },
	{ "queued",
	  { "process", "rank", "what", "peer", "peer_rank", "tag", "communicator", "context",
	    "bytes" } },
	{ "unread", { "process", "rank", "reason", "entries" } },
	{ "time",
	  { "process", "rank", "span_ns", "mpi_ns", "mpi_most_ns", "wait_ns", "wait_bound",
	    "precision" } },
	{ "waits", { "kind",           "function",         "process",
		     "rank",           "call_site",        "culprit",
		     "culprit_rank",   "culprit_function", "culprit_call_site",
		     "count",          "sum_ns",           "max_ns",
		     "fresh_ns",       "uncertainty_ns",   "precision",
		     "computing_ns",   "communicating_ns", "waiting_ns",
		     "root",           "root_rank",        "root_function",
		     "root_call_site", "root_did" } },
	{ "wait_roots",
	  { "process", "rank", "function", "call_site", "did", "count", "fresh_ns" } },
	{ "collectives",
	  { "function", "communicator", "ranks", "algorithm", "reason", "count", "context",
	    "numbered", "first_sequence", "last_sequence", "rounds", "rounds_bound", "messages",
	    "most_sent", "bytes", "least_bytes", "most_bytes", "bytes_bound" } },
	{ "tags", { "library", "team", "kind", "senders", "operations", "messages", "bytes" } },
	{ "tag_senders", { "library", "team", "sender", "process", "messages" } },
	{ "slowest",
	  { "process", "rank<process", "peer", "peer_rank<peer", "op", "transport", "device",
	    "data_path", "initiator", "ucp_op", "function", "bytes", "time_ns", "precision",
	    "at_ns" } },
	{ "memory",
	  { "process", "rank<process", "kind", "sort", "device", "reason", "exporter", "function",
	    "allocations", "bytes", "unsized", "live_peak" } },
	{ "devices", { "host", "name", "pci", "uuid", "model", "numa_node" } },
	{ "device_users", { "host", "name", "process", "rank<process", "ordinal" } },
	{ "errors",
	  { "process", "rank<process", "what", "status", "op", "function", "transport", "device",
	    "count" } },
	{ "call_sites",
	  { "process", "rank<process", "function", PLACE, "count", "ops", "ops_unknown", "bytes",
	    TIME } },
	{ "callers",
	  { "process", "rank<process", "op", PLACE, "library", "role", "count", "bytes",
	    "bytes_unknown", "errors", TIME } },
	{ "stacks",
	  { "process", "rank<process", "function", "end", "frames", "count", "ops", "ops_unknown",
	    "bytes", TIME } },
};

_Static_assert(ARRAY_SIZE(tables) <= CSV_MAX_TABLES, "a file per table");

/* NULL after the last one. */
static const struct csv_table *csv_table_at(size_t i)
{
	return i < ARRAY_SIZE(tables) ? &tables[i] : NULL;
}

static const struct csv_table *csv_table_find(const char *name)
{
	for (size_t i = 0; csv_table_at(i); i++)
		if (!strcmp(tables[i].name, name))
			return &tables[i];
	return NULL;
}

const char *const *csv_columns(const char *table)
{
	return csv_table_find(table)->columns;
}

/* Spreadsheets evaluate such text; a leading apostrophe makes them show it. */
static bool begins_formula(const char *text)
{
	return *text && strchr("=+-@", *text);
}

static void csv_text(FILE *out, const char *text)
{
	char *safe = text_plain(text);

	fputs(begins_formula(safe) ? "\"'" : "\"", out);
	for (const char *c = safe; *c; c++) {
		if (*c == '"')
			fputc('"', out);
		fputc(*c, out);
	}
	fputc('"', out);
	free(safe);
}

static char *frames_text(const json_t *frames)
{
	char *text = NULL;
	size_t size;
	FILE *out = xmemstream(&text, &size);

	for (size_t i = json_array_size(frames); i-- > 0;) {
		const json_t *frame = json_array_get(frames, i);
		const char *label = json_string_value(json_object_get(frame, "label"));

		for (; label && *label; label++)
			fputc(*label == ';' ? ':' : *label, out);
		if (i)
			fputc(';', out);
	}
	fclose(out);
	return text;
}

static char *words_text(const json_t *words)
{
	char *text = NULL;
	size_t size, i;
	FILE *out = xmemstream(&text, &size);
	json_t *word;

	json_array_foreach(words, i, word)
	{
		fputs(i ? ";" : "", out);
		if (json_is_integer(word))
			fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(word));
		else if (json_is_string(word))
			fputs(json_string_value(word), out);
	}
	fclose(out);
	return text;
}

/* Frames, outermost first, or plain words and numbers. */
static char *list_text(const json_t *list)
{
	return json_is_object(json_array_get(list, 0)) ? frames_text(list) : words_text(list);
}

/* A number, true or false, a text, null, or the frames of a stack: "outermost;...;innermost". */
static void csv_value(FILE *out, const json_t *value)
{
	char *text;

	if (json_is_integer(value)) {
		fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	} else if (json_is_real(value)) {
		fprintf(out, "%.17g", json_real_value(value)); /* as the JSON report has it */
	} else if (json_is_boolean(value)) {
		fputs(json_is_true(value) ? "true" : "false", out);
	} else if (json_is_string(value)) {
		csv_text(out, json_string_value(value));
	} else if (json_is_array(value)) {
		text = list_text(value);
		csv_text(out, text);
		free(text);
	}
}

static const json_t *member(const json_t *row, const char *column)
{
	const char *dot = strchr(column, '.');
	char outer[32];

	if (!dot)
		return json_object_get(row, column);
	snprintf(outer, sizeof(outer), "%.*s", (int)(dot - column), column);
	return json_object_get(json_object_get(row, outer), dot + 1);
}

/* The header line. */
static void csv_header(FILE *out, const char *const *columns)
{
	for (int i = 0; columns[i]; i++) {
		if (i)
			fputc(',', out);
		for (const char *c = columns[i]; *c && *c != '<'; c++)
			fputc(*c == '.' ? '_' : *c, out);
	}
	fputc('\n', out);
}

struct csv_export {
	struct report *report;
	struct map ranks; /* number of a process -> its rank; absent: it has none */
	struct export_target *target;
	FILE *files[CSV_MAX_TABLES]; /* by table number; NULL: not opened */
	bool found; /* whether the requested table exists */
	int err; /* -errno of the first file that could not be written */
};

static void csv_rank(const struct csv_export *state, FILE *out, const json_t *process)
{
	const uint64_t *rank =
		json_is_integer(process)
			? map_find(&state->ranks, (uint64_t)json_integer_value(process), 0)
			: NULL;

	if (rank)
		fprintf(out, "%" PRIu64, *rank);
}

/* One row; NULL ends the list of columns. */
static void csv_row(const struct csv_export *state, FILE *out, const char *const *columns,
		    const json_t *row)
{
	for (int i = 0; columns[i]; i++) {
		const char *of = strchr(columns[i], '<');

		if (i)
			fputc(',', out);
		if (of)
			csv_rank(state, out, json_object_get(row, of + 1));
		else
			csv_value(out, member(row, columns[i]));
	}
	fputc('\n', out);
}

static bool wanted(const struct csv_export *state, const struct csv_table *table)
{
	const char *only = state->target->request->table;

	return !only || !strcmp(only, table->name);
}

static FILE *open_table(struct csv_export *state, const struct csv_table *table)
{
	char *path;
	FILE *file;

	if (!state->target->path)
		return state->target->file;
	path = xasprintf("%s/%s.csv", state->target->path, table->name);
	file = fopen(path, "wxe");
	if (file)
		newfile_hand_over(fileno(file), newfile_mode(0666));
	else if (!state->err)
		state->err = -errno;
	free(path);
	return file;
}

/* The file of a table, with its header written; NULL: not requested, or it cannot be opened. */
static FILE *file_of(struct csv_export *state, const char *name)
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

static void put_row(struct csv_export *state, const char *table, const json_t *row)
{
	FILE *file = file_of(state, table);

	if (file)
		csv_row(state, file, csv_table_find(table)->columns, row);
}

/* A list inside a row becomes a table of its own, with some members of the row. */
static const struct {
	const char *of, *list, *table;
	const char *members[3][2]; /* name in the list's row, name in the row */
} lists[] = {
	{ "processes", "ucx", "ucx", { { "process", "id" } } },
	{ "processes", "environment", "environment", { { "process", "id" } } },
	{ "devices", "processes", "device_users", { { "host", "host" }, { "name", "name" } } },
};

static void put_list(struct csv_export *state, size_t at, const json_t *row)
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

/* Processes come before what refers to them. */
static void keep_rank(struct csv_export *state, const json_t *process)
{
	const json_t *rank = json_object_get(process, "rank");
	const json_int_t id = json_integer_value(json_object_get(process, "id"));

	if (json_is_integer(rank))
		*map_insert(&state->ranks, (uint64_t)id, 0, NULL) =
			(uint64_t)json_integer_value(rank);
}

static void take_row(void *arg, const char *table, const json_t *row)
{
	if (!strcmp(table, "processes"))
		keep_rank(arg, row);
	put_row(arg, table, row);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
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
	size_t len = (size_t)snprintf(target->why, sizeof(target->why),
				      "no table '%.40s'; there are", target->request->table);

	for (size_t i = 0; csv_table_at(i) && len < sizeof(target->why); i++)
		len += (size_t)snprintf(target->why + len, sizeof(target->why) - len, "%s %s",
					i ? "," : "", csv_table_at(i)->name);
}

static void *csv_export_begin(struct export_target *target, int *err)
{
	const char *only = target->request->table;
	struct csv_export *state;

	if (only && !csv_table_find(only)) {
		say_tables(target);
		*err = -EINVAL;
		return NULL;
	}
	state = xcalloc(1, sizeof(*state));
	*state = (struct csv_export){ .report = report_new(target->request->filter),
				      .target = target };
	return state;
}

static struct fact_sink sink(void *arg)
{
	struct csv_export *state = arg;

	return report_sink(state->report);
}

static void close_files(struct csv_export *state)
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

static int csv_export_end(void *arg, const struct fact_totals *totals)
{
	struct csv_export *state = arg;
	const struct report_visitor visitor = { state, take_member, begin_table, take_row };

	report_finish(state->report, totals);
	errno = 0;
	report_visit(state->report, &visitor);
	close_files(state);
	if (state->found || state->err)
		return state->err;
	snprintf(state->target->why, sizeof(state->target->why),
		 "nothing written: the captures have no rows for table '%s'",
		 state->target->request->table);
	return -ENODATA;
}

static void csv_export_free(void *arg)
{
	struct csv_export *state = arg;

	close_files(state);
	report_free(state->report);
	map_release(&state->ranks);
	free(state);
}

const struct export_format export_csv = {
	.name = "csv",
	.help = "the report's tables, one file each in directory OUT; --table: one table",
	.place = EXPORT_DIRECTORY,
	.has_tables = true,
	.unfiltered = true,
	.begin = csv_export_begin,
	.sink = sink,
	.end = csv_export_end,
	.free = csv_export_free,
};
