// SPDX-License-Identifier: BSD-3-Clause
/* Views that answer the common questions, and the indices that make looking things up quick. */
#include <stdlib.h>

#include "show/export/sql_columns.h"
#include "show/export/sql_tables.h"

/* Events with their names: one row each, every field, the time between start and end. */
static void view_of(struct sql *sql, enum subject subject)
{
	const struct subject_info *info = &subject_infos[subject];
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	fprintf(out, "CREATE VIEW %s AS SELECT ", info->name);
	for (const struct field *field = info->fields; field->name; field++)
		fprintf(out, "%s%s.%s%s", field == info->fields ? "" : ", ",
			sql_in(subject, field, SQL_KEY) ? "k" : "e", field->name,
			sql_suffix(field));
	if (subject != SUBJECT_MESSAGE)
		fputs(", e.end_ns - e.start_ns AS duration_ns", out);
	fprintf(out, " FROM %s_event e JOIN %s_key k ON k.key = e.key", info->name, info->name);
	fclose(out);
	sql_run(sql, text);
	free(text);
}

/* Single events added up by key, and the sums of many, which have least and most of no duration. */
#define SINGLE_TIME                                                                                \
	"count(end_ns) AS timed, sum(end_ns - start_ns) AS time, min(end_ns - start_ns) AS least," \
	" max(end_ns - start_ns) AS most"
#define SUM_TIME "timed, time_ns, NULL, NULL"

/* Columns of a report's row made of these. */
#define BYTES                                                                                      \
	" coalesce(sum(s.bytes), 0) AS bytes, coalesce(sum(s.bytes_unknown), 0) AS bytes_unknown"
#define TIME                                                                                             \
	" coalesce(sum(s.timed), 0) AS time_known, iif(sum(s.timed), sum(s.time), NULL) AS time_sum_ns," \
	" min(s.least) AS time_min_ns, max(s.most) AS time_max_ns,"                                      \
	" CASE WHEN min(iif(s.timed, s.precision, NULL)) = max(iif(s.timed, s.precision, NULL))"         \
	" THEN min(iif(s.timed, s.precision, NULL))"                                                     \
	" WHEN sum(s.timed) THEN 'mixed' END AS time_precision"

static const char *const views[] = {
	/* The report's tables (docs/report.md). */
	"CREATE VIEW calls AS SELECT k.process, k.function, sum(s.count) AS count,"
	" sum(s.ops) AS ops," BYTES "," TIME " FROM ("
	"SELECT e.key, precision, count(*) AS count, sum(ops) AS ops, sum(bytes) AS bytes,"
	" sum(bytes IS NULL) AS bytes_unknown, " SINGLE_TIME
	" FROM call_event e JOIN call_key USING (key) GROUP BY e.key"
	" UNION ALL SELECT key, precision, count, ops, bytes, bytes_unknown, " SUM_TIME
	" FROM call_sum) s JOIN call_key k USING (key) GROUP BY k.process, k.function",

	"CREATE VIEW ops AS SELECT k.process, k.op, k.function, k.protocol, k.memory,"
	" k.memory_reason, k.memory_known_by, sum(s.count) AS count," BYTES ","
	" CASE WHEN sum(s.errors IS NULL) = 0 THEN sum(s.errors) END AS errors," TIME " FROM ("
	"SELECT e.key, precision, count(*) AS count, sum(bytes) AS bytes,"
	" sum(bytes IS NULL) AS bytes_unknown, sum(status < 0) AS errors, " SINGLE_TIME
	" FROM op_event e JOIN op_key USING (key) GROUP BY e.key"
	" UNION ALL SELECT key, precision, count, bytes, bytes_unknown, NULL, " SUM_TIME
	" FROM op_sum) s JOIN op_key k USING (key)"
	" GROUP BY k.process, k.op, k.function, k.protocol, k.memory, k.memory_reason,"
	" k.memory_known_by",

	"CREATE VIEW transfers AS SELECT k.process, k.peer, k.op, k.transport, k.device,"
	" k.locality, k.kind, k.ucp_op, k.function, k.protocol, k.src_mem, k.dst_mem,"
	" k.src_reason, k.dst_reason, k.fetches, sum(s.count) AS count," BYTES ","
	" sum(s.retries) AS retries, coalesce(sum(s.wire_bytes), 0) AS wire_bytes,"
	" coalesce(sum(iif(k.unexplained IS NULL, 0, s.bytes)), 0) AS unexplained_bytes," TIME
	" FROM (SELECT e.key, precision, count(*) AS count, sum(bytes) AS bytes,"
	" sum(bytes IS NULL) AS bytes_unknown, 0 AS retries, sum(wire_bytes) AS wire_bytes,"
	" " SINGLE_TIME " FROM transfer_event e JOIN transfer_key USING (key)"
	" WHERE NOT retried GROUP BY e.key"
	" UNION ALL SELECT e.key, NULL, 0, 0, 0, count(*), 0, 0, NULL, NULL, NULL"
	" FROM transfer_event e JOIN transfer_key USING (key) WHERE retried GROUP BY e.key"
	" UNION ALL SELECT key, precision, count, bytes, bytes_unknown, retries, wire_bytes,"
	" " SUM_TIME " FROM transfer_sum) s JOIN transfer_key k USING (key)"
	" GROUP BY k.process, k.peer, k.op, k.transport, k.device, k.locality, k.kind, k.ucp_op,"
	" k.function, k.protocol, k.src_mem, k.dst_mem, k.src_reason, k.dst_reason,"
	" k.fetches",

	"CREATE VIEW messages AS SELECT k.src, k.dst, k.function, k.src_mem, k.dst_mem,"
	" k.src_reason, k.dst_reason, k.chain, k.via, k.chain_reason, sum(s.count) AS count," BYTES
	", sum(s.copies) AS copies, sum(s.copy_bytes) AS copy_bytes"
	" FROM (SELECT key, count(*) AS count, sum(bytes) AS bytes,"
	" sum(bytes IS NULL) AS bytes_unknown, sum(copies) AS copies, sum(copy_bytes) AS copy_bytes"
	" FROM message_event GROUP BY key) s JOIN message_key k USING (key)"
	" GROUP BY k.src, k.dst, k.function, k.src_mem, k.dst_mem, k.src_reason, k.dst_reason,"
	" k.chain, k.via, k.chain_reason",

	/* The screens of replay. */
	"CREATE VIEW paths AS SELECT transport, device, op, protocol, locality, kind,"
	" sum(count) AS count, sum(bytes) AS bytes,"
	" round(100.0 * sum(bytes) / sum(sum(bytes)) OVER (PARTITION BY kind), 3) AS share,"
	" sum(time_sum_ns) / nullif(sum(time_known), 0) AS time_mean_ns, sum(retries) AS retries"
	" FROM transfers GROUP BY transport, device, op, protocol, locality, kind"
	" ORDER BY kind = 'control', bytes DESC, count DESC",

	"CREATE VIEW functions AS SELECT function, sum(count) AS calls,"
	" sum(time_sum_ns) AS time_sum_ns, sum(ops) AS ops, sum(bytes) AS bytes"
	" FROM calls GROUP BY function ORDER BY time_sum_ns DESC",

	"CREATE VIEW pairs AS SELECT src, dst, sum(messages) AS messages,"
	" sum(message_bytes) AS message_bytes, sum(transfers) AS transfers,"
	" sum(transfer_bytes) AS transfer_bytes FROM ("
	"SELECT src, dst, count AS messages, bytes AS message_bytes, 0 AS transfers,"
	" 0 AS transfer_bytes FROM messages"
	" UNION ALL SELECT iif(fetches, peer, process), iif(fetches, process, peer),"
	" 0, 0, count, bytes FROM transfers WHERE kind = 'data')"
	" GROUP BY src, dst ORDER BY transfer_bytes DESC",

	"CREATE VIEW call_sites AS SELECT k.process, k.function, p.label, p.module, p.file, p.line,"
	" sum(s.count) AS count, sum(s.ops) AS ops, coalesce(sum(s.bytes), 0) AS bytes,"
	" sum(s.time) AS time_sum_ns FROM (SELECT key, count(*) AS count, sum(ops) AS ops,"
	" sum(bytes) AS bytes, sum(end_ns - start_ns) AS time FROM call_event GROUP BY key) s"
	" JOIN call_key k USING (key) JOIN place p ON p.id = k.place"
	" GROUP BY k.process, k.function, p.id ORDER BY time_sum_ns DESC",

	"CREATE VIEW slowest AS SELECT t.*, p.label AS call_site FROM transfer t"
	" LEFT JOIN place p ON p.id = t.place WHERE NOT t.retried AND t.duration_ns NOT NULL"
	" AND (t.kind = 'data' OR EXISTS (SELECT 1 FROM total WHERE section = 'filter' AND name = 'kind'))"
	" ORDER BY t.duration_ns DESC LIMIT 20",

	"CREATE VIEW unknown AS SELECT section, name, reason, value FROM total"
	" WHERE section IN ('loss', 'matching', 'attribution', 'notes')",
};

static const char *const indices[] = {
	"CREATE INDEX call_start ON call_event (start_ns)",
	"CREATE INDEX op_call ON op_event (call)",
	"CREATE INDEX op_start ON op_event (start_ns)",
	"CREATE INDEX transfer_cause ON transfer_event (caused_by)",
	"CREATE INDEX transfer_start ON transfer_event (start_ns)",
	"CREATE INDEX message_send ON message_event (send)",
	"CREATE INDEX message_recv ON message_event (recv)",
};

void sql_views(struct sql *sql)
{
	static const enum subject subjects[] = { SUBJECT_CALL, SUBJECT_OP, SUBJECT_TRANSFER,
						 SUBJECT_MESSAGE };

	for (size_t i = 0; i < sizeof(subjects) / sizeof(subjects[0]); i++)
		view_of(sql, subjects[i]);
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
		sql_run(sql, views[i]);
	for (size_t i = 0; i < sizeof(indices) / sizeof(indices[0]); i++)
		sql_run(sql, indices[i]);
}
