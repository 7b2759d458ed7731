// SPDX-License-Identifier: BSD-3-Clause
/* The tables, views and indices of docs/sqlite.md. */
#include "show/export/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/place.h"
#include "base/vec.h"

enum sql_part {
	SQL_WHOLE, /* every column, in one table */
	SQL_KEY, /* names: few combinations occur */
	SQL_EVENT, /* the rest: numbers of one event */
};

/* The type that is summed up; else the type itself. */
static enum fact_type sql_single(enum fact_type type)
{
	switch (type) {
	case FACT_CALLS:
		return FACT_CALL;
	case FACT_OPS:
		return FACT_OP;
	case FACT_TRANSFERS:
		return FACT_TRANSFER;
	default:
		return type;
	}
}

/* Calls, operations, transfers, messages and their sums are split into key and event. */
static bool sql_has_key(enum fact_type type)
{
	switch (sql_single(type)) {
	case FACT_CALL:
	case FACT_OP:
	case FACT_TRANSFER:
	case FACT_MESSAGE:
		return true;
	default:
		return false;
	}
}

static bool is_name(const struct fact_column *column)
{
	switch (column->type) {
	case COLUMN_TEXT:
	case COLUMN_INDEX:
	case COLUMN_BOOL:
	case COLUMN_PRECISION:
	case COLUMN_LOCALITY:
	case COLUMN_KIND:
	case COLUMN_PLACE:
	case COLUMN_STACK:
		return true;
	default:
		return false;
	}
}

/* Whether a column of the type is in that part of it. */
static bool sql_in(enum fact_type type, const struct fact_column *column, enum sql_part part)
{
	if (part == SQL_WHOLE)
		return true;
	if (part == SQL_KEY)
		return is_name(column);
	return !is_name(column) && !(column->single && fact_infos[type].sums);
}

/* The unit is part of the name of times, which also avoids keywords of SQL. */
static const char *sql_suffix(const struct fact_column *column)
{
	if (!strcmp(column->name, "ns"))
		return "";
	return column->type == COLUMN_TIME || column->type == COLUMN_NS ? "_ns" : "";
}

static const char *type_of(const struct fact_column *column)
{
	if (!strcmp(column->name, "id"))
		return "INTEGER PRIMARY KEY";
	return column->type == COLUMN_TEXT || column_words(column->type) ? "TEXT" : "INTEGER";
}

static void put_column(FILE *out, const struct fact_column *column, bool first)
{
	fprintf(out, "  %s%s%s %s -- %s\n", first ? "" : ", ", column->name, sql_suffix(column),
		type_of(column), column->help);
}

/*
 * Writes "name TYPE -- help" for each column of a part; first: of the table. Returns their number.
 */
static int sql_put_columns(FILE *out, enum fact_type type, enum sql_part part, bool first)
{
	const struct fact_info *info = &fact_infos[type];
	int count = 0;

	for (const struct fact_column *column = info->columns; column->name; column++)
		if (sql_in(type, column, part))
			put_column(out, column, !count++ && first);
	for (const struct fact_column *column = info->sums; column && column->name; column++)
		if (part != SQL_KEY)
			put_column(out, column, !count++ && first);
	return count;
}

#define MAX_KEYS 32

/* first: a column before those of the type; NULL: none. */
static sqlite3_stmt *make(struct sql *sql, const char *table, const char *first,
			  enum fact_type type, enum sql_part part)
{
	char *text = NULL;
	size_t size;
	int columns;
	FILE *out = xmemstream(&text, &size);

	fprintf(out, "CREATE TABLE %s ( -- %s\n", table, fact_infos[type].help);
	if (first)
		fprintf(out, "  %s\n", first);
	columns = sql_put_columns(out, type, part, !first);
	fputs(")", out);
	fclose(out);
	sql_run(sql, text);
	free(text);
	return sql_insert(sql, table, columns + !!first);
}

static void make_keyed(struct sql_tables *tables, enum fact_type type)
{
	const char *single = fact_infos[sql_single(type)].name;
	char name[32], reference[64];

	snprintf(name, sizeof(name), "raw_%s_%s", single,
		 sql_single(type) == type ? "event" : "sum");
	snprintf(reference, sizeof(reference), "key INTEGER NOT NULL REFERENCES raw_%s_key",
		 single);
	tables->rows[type] = make(tables->sql, name, reference, type, SQL_EVENT);
	if (sql_single(type) != type)
		return;
	snprintf(name, sizeof(name), "raw_%s_key", single);
	tables->keys[type] = make(tables->sql, name, "key INTEGER PRIMARY KEY", type, SQL_KEY);
}

/* "device" is a NIC in all other tables. */
static const char *table_name(enum fact_type type)
{
	return type == FACT_DEVICE        ? "gpu"
	       : type == FACT_DEVICE_USER ? "gpu_user"
					  : fact_infos[type].name;
}

static void make_whole(struct sql_tables *tables, enum fact_type type)
{
	tables->rows[type] = make(tables->sql, table_name(type), NULL, type, SQL_WHOLE);
}

void sql_tables_open(struct sql_tables *tables, struct sql *sql)
{
	*tables = (struct sql_tables){ .sql = sql };
	for (int type = 0; type < FACT_TYPES; type++) {
		if (sql_has_key((enum fact_type)type))
			make_keyed(tables, (enum fact_type)type);
		else
			make_whole(tables, (enum fact_type)type);
	}
	sql_run(sql, "CREATE TABLE stack ( -- a path that calls came by\n"
		     "  id INTEGER PRIMARY KEY,\n"
		     "  reason TEXT -- why there are no more frames; null: all are there\n)");
	sql_run(sql, "CREATE TABLE stack_frame ( -- its places\n"
		     "  stack INTEGER NOT NULL REFERENCES stack,\n"
		     "  depth INTEGER NOT NULL, -- 0: what called MPI\n"
		     "  place INTEGER NOT NULL REFERENCES place,\n"
		     "  PRIMARY KEY (stack, depth)) WITHOUT ROWID");
	tables->stack = sql_insert(sql, "stack", 2);
	tables->frame = sql_insert(sql, "stack_frame", 3);
}

static int bind_columns(sqlite3_stmt *row, int at, const struct fact_column *columns,
			const void *fact)
{
	for (const struct fact_column *column = columns; column->name; column++) {
		const struct column_value value = column_value(column, fact);

		sql_bind(row, at++, column, &value);
	}
	return at;
}

static uint64_t place_number(struct sql_tables *tables, const struct place *place)
{
	uint64_t *number = map_insert(&tables->places, (uintptr_t)place->key, 0, NULL);
	struct fact_place row = { .place = *place };

	if (*number)
		return *number;
	*number = row.id = tables->places.used;
	bind_columns(tables->rows[FACT_PLACE], 1, fact_infos[FACT_PLACE].columns, &row);
	sql_step(tables->sql, tables->rows[FACT_PLACE]);
	return *number;
}

static uint64_t stack_number(struct sql_tables *tables, const struct stack *stack)
{
	uint64_t *number = map_insert(&tables->stacks, (uintptr_t)stack->key, 0, NULL);

	if (*number)
		return *number;
	*number = tables->stacks.used;
	sqlite3_bind_int64(tables->stack, 1, (sqlite3_int64)*number);
	sql_bind_text(tables->stack, 2, stack->end);
	sql_step(tables->sql, tables->stack);
	for (int i = 0; i < stack->depth; i++) {
		sqlite3_bind_int64(tables->frame, 1, (sqlite3_int64)*number);
		sqlite3_bind_int(tables->frame, 2, i);
		sqlite3_bind_int64(tables->frame, 3,
				   (sqlite3_int64)place_number(tables, stack->frames[i]));
		sql_step(tables->sql, tables->frame);
	}
	return *number;
}

static struct column_value value_of(struct sql_tables *tables, const struct fact_column *column,
				    const void *fact)
{
	struct column_value value = column_value(column, fact);

	if (column->type == COLUMN_PLACE && !value.null)
		value.number = place_number(tables, value.pointer);
	if (column->type == COLUMN_STACK && !value.null)
		value.number = stack_number(tables, value.pointer);
	return value;
}

static void add_whole(struct sql_tables *tables, enum fact_type type, const void *fact,
		      const struct fact_sums *sums)
{
	const struct fact_column *column = fact_infos[type].columns;
	sqlite3_stmt *row = tables->rows[type];
	int at = 1;

	for (; column->name; column++, at++) {
		const struct column_value value = value_of(tables, column, fact);

		sql_bind(row, at, column, &value);
	}
	if (sums)
		bind_columns(row, at, fact_infos[type].sums, sums);
	sql_step(tables->sql, row);
}

static bool in_key(enum fact_type type, const struct fact_column *column,
		   const struct fact_sums *sums)
{
	return sql_in(type, column, SQL_KEY) && !(sums && column->single);
}

static void add_key(struct sql_tables *tables, enum fact_type type, uint64_t number,
		    const void *fact, const struct fact_sums *sums)
{
	const struct column_value none = { .null = true };
	sqlite3_stmt *row = tables->keys[type];
	int at = 1;

	sqlite3_bind_int64(row, at++, (sqlite3_int64)number);
	for (const struct fact_column *column = fact_infos[type].columns; column->name; column++) {
		const struct column_value value =
			in_key(type, column, sums) ? value_of(tables, column, fact) : none;

		if (sql_in(type, column, SQL_KEY))
			sql_bind(row, at++, column, &value);
	}
	sql_step(tables->sql, row);
}

/* Two words per column: whether it is null, and its number or pointer. */
static XXH128_hash_t hash(enum fact_type type, const void *fact, const struct fact_sums *sums)
{
	uint64_t words[2 * MAX_KEYS];
	int count = 0;

	for (const struct fact_column *column = fact_infos[type].columns; column->name; column++) {
		struct column_value value;

		if (!sql_in(type, column, SQL_KEY) || count == 2 * MAX_KEYS)
			continue;
		value = column_value(column, fact);
		words[count++] = value.null || !in_key(type, column, sums);
		words[count] = value.number + (uintptr_t)value.text;
		if (value.pointer && column->type == COLUMN_PLACE)
			words[count] = (uintptr_t)((const struct place *)value.pointer)->key;
		if (value.pointer && column->type == COLUMN_STACK)
			words[count] = (uintptr_t)((const struct stack *)value.pointer)->key;
		if (words[count - 1])
			words[count] = 0;
		count++;
	}
	return XXH3_128bits(words, count * sizeof(words[0]));
}

static uint64_t key_number(struct sql_tables *tables, enum fact_type type, const void *fact,
			   const struct fact_sums *sums)
{
	XXH128_hash_t key = hash(type, fact, sums);
	uint64_t *known = map_insert(&tables->known[type], key.low64, key.high64, NULL);

	if (!*known) {
		*known = tables->known[type].used;
		add_key(tables, type, *known, fact, sums);
	}
	return *known;
}

void sql_tables_add(struct sql_tables *tables, enum fact_type type, const void *fact,
		    const struct fact_sums *sums)
{
	const struct fact_info *info = &fact_infos[type];
	sqlite3_stmt *row = tables->rows[type];
	int at = 1;

	if (tables->sql->err)
		return;
	if (!sql_has_key(type)) {
		add_whole(tables, type, fact, sums);
		return;
	}
	sqlite3_bind_int64(row, at++,
			   (sqlite3_int64)key_number(tables, sql_single(type), fact, sums));
	for (const struct fact_column *column = info->columns; column->name; column++) {
		struct column_value value;

		if (!sql_in(type, column, SQL_EVENT))
			continue;
		value = column_value(column, fact);
		sql_bind(row, at++, column, &value);
	}
	if (sums)
		bind_columns(row, at, info->sums, sums);
	sql_step(tables->sql, row);
}

void sql_tables_release(struct sql_tables *tables)
{
	for (int i = 0; i < FACT_TYPES; i++) {
		sqlite3_finalize(tables->rows[i]);
		sqlite3_finalize(tables->keys[i]);
		map_release(&tables->known[i]);
	}
	sqlite3_finalize(tables->stack);
	sqlite3_finalize(tables->frame);
	map_release(&tables->places);
	map_release(&tables->stacks);
	*tables = (struct sql_tables){ .sql = tables->sql };
}

/*
 * Ranks and hosts beside the processes of rows: columns that come first, and the joins that find
 * them, of a row p. Sums and events have the same ones.
 */
#define OF_PROCESS "p0.rank, p0.host_name AS host, "
#define JOIN_PROCESS " LEFT JOIN process p0 ON p0.id = s.process"
#define OF_PEERS OF_PROCESS "p1.rank AS peer_rank, p1.host_name AS peer_host, "
#define JOIN_PEERS JOIN_PROCESS " LEFT JOIN process p1 ON p1.id = s.peer"
#define OF_ENDS                                                                                    \
	"p0.rank AS src_rank, p1.rank AS dst_rank, p0.host_name AS src_host,"                      \
	" p1.host_name AS dst_host, "
#define JOIN_ENDS " LEFT JOIN process p0 ON p0.id = s.src LEFT JOIN process p1 ON p1.id = s.dst"

/* Events joined with their key: one row each, every column, and the duration. */
static void view_of(struct sql *sql, enum fact_type type)
{
	static const char *const names[FACT_TYPES] = {
		[FACT_CALL] = OF_PROCESS,
		[FACT_OP] = OF_PEERS,
		[FACT_TRANSFER] = OF_PEERS,
		[FACT_MESSAGE] = OF_ENDS,
	};
	static const char *const joins[FACT_TYPES] = {
		[FACT_CALL] = JOIN_PROCESS,
		[FACT_OP] = JOIN_PEERS,
		[FACT_TRANSFER] = JOIN_PEERS,
		[FACT_MESSAGE] = JOIN_ENDS,
	};
	const struct fact_info *info = &fact_infos[type];
	char *text = NULL;
	size_t size;
	FILE *out = xmemstream(&text, &size);

	fprintf(out, "CREATE VIEW %s_events AS SELECT %s", info->name, names[type]);
	for (const struct fact_column *column = info->columns; column->name; column++)
		fprintf(out, "%s%s.%s%s", column == info->columns ? "" : ", ",
			sql_in(type, column, SQL_KEY) ? "s" : "e", column->name,
			sql_suffix(column));
	if (type != FACT_MESSAGE)
		fputs(", e.end_ns - e.start_ns AS duration_ns", out);
	fprintf(out, " FROM raw_%s_event e JOIN raw_%s_key s ON s.key = e.key%s", info->name,
		info->name, joins[type]);
	fclose(out);
	sql_run(sql, text);
	free(text);
}

/* Single events summed up by key, and sums, which have no least and most duration. */
#define SINGLE_TIME                                                                                \
	"count(end_ns) AS timed, sum(end_ns - start_ns) AS time, min(end_ns - start_ns) AS least," \
	" max(end_ns - start_ns) AS most"
#define SUM_TIME "timed, time_ns, NULL, NULL"

/* Columns of a row of the report. */
#define BYTES                                                                                      \
	" coalesce(sum(s.bytes), 0) AS bytes, coalesce(sum(s.bytes_unknown), 0) AS bytes_unknown"
/* Sums over calls: NULL where no operations were recorded. */
#define OPS_EVENT " sum(ops) AS ops, sum(ops IS NULL) AS ops_unknown, sum(bytes) AS bytes,"
#define KNOWN_OPS(column)                                                                          \
	" CASE WHEN sum(s.ops_unknown) < sum(s.count) OR sum(s.count) = 0 THEN"                    \
	" coalesce(sum(s." column "), 0) END AS " column
#define OPS KNOWN_OPS("ops") ", sum(s.ops_unknown) AS ops_unknown," KNOWN_OPS("bytes")
/* Sums over facts of exact time, which means and rates are made of. */
#define EXACT(what, name)                                                                          \
	", iif(sum(s.timed), sum(iif(s.timed AND s.precision IN ('exact', 'sampled'),"             \
	" coalesce(s." what ", 0), 0)), NULL) AS " name
#define EXACT_SUMS                                                                                 \
	EXACT("timed", "time_exact")                                                               \
	EXACT("time", "time_exact_sum_ns")                                                         \
	EXACT("bytes * (s.timed = s.count)", "time_exact_bytes")
#define TIME                                                                                             \
	" coalesce(sum(s.timed), 0) AS time_known, iif(sum(s.timed), sum(s.time), NULL) AS time_sum_ns," \
	" min(s.least) AS time_min_ns, max(s.most) AS time_max_ns,"                                      \
	" CASE WHEN min(iif(s.timed, s.precision, NULL)) = max(iif(s.timed, s.precision, NULL))"         \
	" THEN min(iif(s.timed, s.precision, NULL))"                                                     \
	" WHEN sum(s.timed) THEN 'mixed' END AS time_precision" EXACT_SUMS

/* For single events with an exact duration: the value that percent of all do not exceed. */
#define QUANTILE(percent, name)                                                                    \
	", max(iif(at <= (of * " percent " + 99) / 100, ns, NULL)) AS exact_" name "_ns"
#define DURATIONS(view, type, keys)                                                                \
	"CREATE VIEW " view " AS SELECT " keys                                                     \
	", count(*) AS exact" QUANTILE("50", "median") QUANTILE(                                   \
		"99", "p99") " FROM (SELECT " keys ", end_ns - start_ns AS ns, row_number() OVER"  \
			     " (PARTITION BY " keys                                                \
			     " ORDER BY end_ns - start_ns) AS at, count(*) OVER"                   \
			     " (PARTITION BY " keys ") AS of FROM raw_" type                       \
			     "_event JOIN raw_" type "_key USING (key)"                            \
			     " WHERE end_ns >= start_ns AND precision IN ('exact', 'sampled')"

#define PATH "transport, device, op, protocol, locality, kind, data_path, initiator"

static const char *const views[] = {
	/* The report's tables (docs/report.md). */
	"CREATE VIEW call_sums AS SELECT " OF_PROCESS
	"s.* FROM (SELECT k.process, k.function, sum(s.count) AS count," OPS
	", coalesce(sum(s.bytes_unknown), 0) AS bytes_unknown," TIME " FROM ("
	"SELECT e.key, precision, count(*) AS count," OPS_EVENT
	" sum(bytes IS NULL) AS bytes_unknown, " SINGLE_TIME
	" FROM raw_call_event e JOIN raw_call_key USING (key) GROUP BY e.key"
	" UNION ALL SELECT key, precision, count, ops, ops_unknown, bytes, bytes_unknown, " SUM_TIME
	" FROM raw_call_sum) s JOIN raw_call_key k USING (key) GROUP BY k.process, k.function) s" JOIN_PROCESS,

	"CREATE VIEW op_sums AS SELECT " OF_PROCESS
	"s.* FROM (SELECT k.process, k.op, k.function, k.protocol, k.memory,"
	" k.memory_reason, k.memory_known_by, sum(s.count) AS count," BYTES ","
	" CASE WHEN sum(s.errors IS NULL) = 0 THEN sum(s.errors) END AS errors," TIME " FROM ("
	"SELECT e.key, precision, count(*) AS count, sum(bytes) AS bytes,"
	" sum(bytes IS NULL) AS bytes_unknown, sum(status < 0) AS errors, " SINGLE_TIME
	" FROM raw_op_event e JOIN raw_op_key USING (key) GROUP BY e.key"
	" UNION ALL SELECT key, precision, count, bytes, bytes_unknown, NULL, " SUM_TIME
	" FROM raw_op_sum) s JOIN raw_op_key k USING (key)"
	" GROUP BY k.process, k.op, k.function, k.protocol, k.memory, k.memory_reason,"
	" k.memory_known_by) s" JOIN_PROCESS,

	"CREATE VIEW transfer_sums AS SELECT " OF_PEERS
	"s.* FROM (SELECT k.process, k.peer, k.op, k.transport, k.device,"
	" k.locality, k.kind, k.data_path, k.initiator, k.ucp_op, k.function, k.protocol,"
	" k.src_mem, k.dst_mem, k.src_reason, k.dst_reason, k.fetches, sum(s.count) AS count," BYTES
	","
	" sum(s.retries) AS retries, coalesce(sum(s.wire_bytes), 0) AS wire_bytes,"
	" coalesce(sum(iif(k.unexplained IS NULL, 0, s.bytes)), 0) AS unexplained_bytes," TIME
	" FROM (SELECT e.key, precision, count(*) AS count, sum(bytes) AS bytes,"
	" sum(bytes IS NULL) AS bytes_unknown, 0 AS retries, sum(wire_bytes) AS wire_bytes,"
	" " SINGLE_TIME " FROM raw_transfer_event e JOIN raw_transfer_key USING (key)"
	" WHERE NOT retried GROUP BY e.key"
	" UNION ALL SELECT e.key, NULL, 0, 0, 0, count(*), 0, 0, NULL, NULL, NULL"
	" FROM raw_transfer_event e JOIN raw_transfer_key USING (key) WHERE retried GROUP BY e.key"
	" UNION ALL SELECT key, precision, count, bytes, bytes_unknown, retries, wire_bytes,"
	" " SUM_TIME " FROM raw_transfer_sum) s JOIN raw_transfer_key k USING (key)"
	" GROUP BY k.process, k.peer, k.op, k.transport, k.device, k.locality, k.kind, k.data_path,"
	" k.initiator, k.ucp_op, k.function, k.protocol, k.src_mem, k.dst_mem, k.src_reason, k.dst_reason,"
	" k.fetches) s" JOIN_PEERS,

	"CREATE VIEW message_sums AS SELECT " OF_ENDS
	"s.* FROM (SELECT k.src, k.dst, k.function, k.src_mem, k.dst_mem,"
	" k.src_reason, k.dst_reason, k.chain, k.via, k.chain_reason, sum(s.count) AS count," BYTES
	", sum(s.copies) AS copies, sum(s.copy_bytes) AS copy_bytes"
	" FROM (SELECT key, count(*) AS count, sum(bytes) AS bytes,"
	" sum(bytes IS NULL) AS bytes_unknown, sum(copies) AS copies, sum(copy_bytes) AS copy_bytes"
	" FROM raw_message_event GROUP BY key) s JOIN raw_message_key k USING (key)"
	" GROUP BY k.src, k.dst, k.function, k.src_mem, k.dst_mem, k.src_reason, k.dst_reason,"
	" k.chain, k.via, k.chain_reason) s" JOIN_ENDS,

	/* The screens of replay. */
	"CREATE VIEW paths AS SELECT " PATH ","
	" sum(count) AS count, sum(bytes) AS bytes,"
	" round(100.0 * sum(bytes) / sum(sum(bytes)) OVER (PARTITION BY kind), 3) AS share,"
	" sum(time_exact_sum_ns) / nullif(sum(time_exact), 0) AS time_mean_ns, sum(retries) AS retries,"
	" coalesce(sum(time_exact), 0) AS time_exact, sum(time_known) AS time_known,"
	" round(1.0 * nullif(sum(time_exact_bytes), 0) / nullif(sum(time_exact_sum_ns), 0), 3) AS gb_per_s"
	" FROM transfer_sums GROUP BY " PATH " ORDER BY kind = 'control', bytes DESC, count DESC",

	DURATIONS("path_times", "transfer", PATH) " AND NOT retried) GROUP BY " PATH,

	DURATIONS("function_times", "call", "function") ") GROUP BY function",

	"CREATE VIEW functions AS SELECT function, sum(count) AS calls,"
	" sum(time_sum_ns) AS time_sum_ns, sum(ops) AS ops, sum(ops_unknown) AS ops_unknown,"
	" sum(bytes) AS bytes"
	" FROM call_sums GROUP BY function ORDER BY time_sum_ns DESC",

	"CREATE VIEW pairs AS SELECT " OF_ENDS "s.* FROM (SELECT src, dst,"
	" sum(messages) AS messages, sum(message_bytes) AS message_bytes,"
	" sum(transfers) AS transfers, sum(transfer_bytes) AS transfer_bytes FROM ("
	"SELECT src, dst, count AS messages, bytes AS message_bytes, 0 AS transfers,"
	" 0 AS transfer_bytes FROM message_sums"
	" UNION ALL SELECT iif(fetches, peer, process), iif(fetches, process, peer),"
	" 0, 0, count, bytes FROM transfer_sums WHERE kind = 'data')"
	" GROUP BY src, dst) s" JOIN_ENDS " ORDER BY transfer_bytes DESC",

	"CREATE VIEW call_sites AS SELECT " OF_PROCESS
	"s.* FROM (SELECT k.process, k.function, p.label, p.module, p.file, p.line,"
	" sum(s.count) AS count," OPS ","
	" sum(s.time) AS time_sum_ns FROM (SELECT key, count(*) AS count," OPS_EVENT
	" sum(end_ns - start_ns) AS time FROM raw_call_event GROUP BY key"
	" UNION ALL SELECT key, count, ops, ops_unknown, bytes, iif(timed, time_ns, NULL) FROM raw_call_sum) s"
	" JOIN raw_call_key k USING (key) JOIN place p ON p.id = k.place"
	" GROUP BY k.process, k.function, p.id) s" JOIN_PROCESS " ORDER BY time_sum_ns DESC",

	/* operations outside MPI: the place is that of UCP's caller */
	"CREATE VIEW callers AS SELECT " OF_PROCESS
	"s.* FROM (SELECT k.process, k.op, p.library, p.role, p.label, p.module, p.symbol, p.file, p.line,"
	" sum(s.count) AS count," BYTES " FROM (SELECT key, count(*) AS count, sum(bytes) AS bytes,"
	" sum(bytes IS NULL) AS bytes_unknown FROM raw_op_event GROUP BY key"
	" UNION ALL SELECT key, count, bytes, bytes_unknown FROM raw_op_sum) s"
	" JOIN raw_op_key k USING (key) LEFT JOIN place p ON p.id = k.place WHERE k.function IS NULL"
	" GROUP BY k.process, k.op, k.place) s" JOIN_PROCESS " ORDER BY bytes DESC",

	"CREATE VIEW slowest AS SELECT t.*, p.label AS call_site FROM transfer_events t"
	" LEFT JOIN place p ON p.id = t.place WHERE NOT t.retried AND t.duration_ns NOT NULL"
	" AND t.precision != 'upper_bound'"
	" AND (t.kind = 'data' OR EXISTS (SELECT 1 FROM total WHERE section = 'filter' AND name = 'kind'))"
	" ORDER BY t.duration_ns DESC LIMIT 20",

	/* "ns" of a wait is what no wait of the same call and kind had before */
	"CREATE VIEW waits AS SELECT s.kind, s.function, p0.rank, p0.host_name AS host,"
	" l0.label AS call_site, p1.rank AS culprit_rank, p1.host_name AS culprit_host,"
	" s.culprit_function, l1.label AS culprit_call_site, s.culprit_did, p2.rank AS root_rank,"
	" p2.host_name AS root_host, s.root_function, l2.label AS root_call_site, s.root_did, count(*) AS count,"
	" sum(s.ns) AS sum_ns, max(s.ns) AS max_ns, sum(s.fresh_ns) AS fresh_ns,"
	" sum(s.uncertainty_ns) AS uncertainty_ns FROM wait s" JOIN_PROCESS
	" LEFT JOIN process p1 ON p1.id = s.culprit LEFT JOIN process p2 ON p2.id = s.root"
	" LEFT JOIN place l0 ON l0.id = s.place LEFT JOIN place l1 ON l1.id = s.culprit_place"
	" LEFT JOIN place l2 ON l2.id = s.root_place"
	" GROUP BY s.kind, s.function, s.process, s.place, s.culprit, s.culprit_function,"
	" s.culprit_place, s.culprit_did, s.root, s.root_function,"
	" s.root_place, s.root_did ORDER BY sum_ns DESC",

	"CREATE VIEW collectives AS SELECT function, communicator, ranks, algorithm, reason,"
	" count(*) AS count, iif(count(context) = count(*) AND min(context) = max(context), min(context), NULL) AS context,"
	" count(sequence) AS numbered, min(sequence) AS first_sequence, max(sequence) AS last_sequence,"
	" max(rounds) AS rounds, max(rounds_bound) AS rounds_bound, sum(messages) AS messages,"
	" max(most_sent) AS most_sent, sum(bytes) AS bytes, min(bytes) AS least_bytes,"
	" max(bytes) AS most_bytes, max(bytes_bound) AS bytes_bound FROM collective GROUP BY 1, 2, 3, 4, 5 ORDER BY bytes DESC",

	"CREATE VIEW tags AS SELECT library, team, kind, count(DISTINCT sender) AS senders,"
	" count(DISTINCT number) AS operations, count(*) AS messages, sum(bytes) AS bytes"
	" FROM message_events WHERE library IS NOT NULL GROUP BY 1, 2, 3 ORDER BY bytes DESC",

	"CREATE VIEW open_calls AS SELECT " OF_PROCESS
	"s.process, s.function, p.label AS call_site,"
	" s.op, s.peer, s.peer_rank, p1.host_name AS peer_host, s.tag, s.communicator, s.until_ns - s.since_ns AS age_ns, s.bound, s.certain"
	" FROM open s" JOIN_PROCESS " LEFT JOIN process p1 ON p1.id = s.peer"
	" LEFT JOIN place p ON p.id = s.place"
	" ORDER BY s.certain DESC, age_ns DESC",

	/* Where the report computes what SQL would not: raw_ tables have its rows. */
	"CREATE VIEW hosts AS SELECT s.*, (SELECT count(*) FROM process p WHERE p.host = s.id)"
	" AS processes FROM raw_hosts s ORDER BY s.id",

	"CREATE VIEW clocks AS SELECT h0.name AS host_name, h1.name AS other_name, s.*"
	" FROM raw_clocks s LEFT JOIN raw_hosts h0 ON h0.id = s.host"
	" LEFT JOIN raw_hosts h1 ON h1.id = s.other",

	"CREATE VIEW nics AS SELECT h0.name AS host_name, s.* FROM raw_nics s"
	" LEFT JOIN raw_hosts h0 ON h0.id = s.host ORDER BY s.bytes DESC",

	"CREATE VIEW routes AS SELECT h0.name AS src_host_name, h1.name AS dst_host_name, s.*"
	" FROM raw_routes s LEFT JOIN raw_hosts h0 ON h0.id = s.src_host"
	" LEFT JOIN raw_hosts h1 ON h1.id = s.dst_host ORDER BY s.bytes DESC",

	"CREATE VIEW times AS SELECT p0.host_name AS host, s.* FROM raw_time s" JOIN_PROCESS
	" ORDER BY s.rank IS NULL, s.rank, s.process",

	"CREATE VIEW unknown AS SELECT section, name, reason, value FROM total"
	" WHERE section IN ('loss', 'detail', 'matching', 'attribution', 'notes')",
};

static const char *const indices[] = {
	"CREATE INDEX call_start ON raw_call_event (start_ns)",
	"CREATE INDEX op_call ON raw_op_event (call)",
	"CREATE INDEX op_start ON raw_op_event (start_ns)",
	"CREATE INDEX transfer_cause ON raw_transfer_event (caused_by)",
	"CREATE INDEX transfer_start ON raw_transfer_event (start_ns)",
	"CREATE INDEX message_send ON raw_message_event (send)",
	"CREATE INDEX message_recv ON raw_message_event (recv)",
};

void sql_views(struct sql *sql)
{
	static const enum fact_type types[] = { FACT_CALL, FACT_OP, FACT_TRANSFER, FACT_MESSAGE };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		view_of(sql, types[i]);
	for (size_t i = 0; i < ARRAY_SIZE(views); i++)
		sql_run(sql, views[i]);
	for (size_t i = 0; i < ARRAY_SIZE(indices); i++)
		sql_run(sql, indices[i]);
}
