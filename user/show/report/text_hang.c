// SPDX-License-Identifier: BSD-3-Clause
/* Who is behind, and the answer of `ucxbpf pending`. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "base/units.h"
#include "base/vec.h"
#include "show/report/text.h"

/* "rank 3", "pid 12". */
static void name(const void *arg, int process, FILE *out)
{
	char who[48];

	text_who(arg, who, sizeof(who), process);
	fputs(who, out);
}

size_t text_behind(const struct text_report *text, size_t shown)
{
	hang_rows rows = { 0 };
	size_t count;

	report_behind(text->report, &rows);
	count = rows.len;
	for (size_t i = 0; i < rows.len && i < shown; i++) {
		char *line = hang_told(&rows.data[i], name, text);

		text_paragraph(text, 0, line, STYLE_WARN);
		free(line);
	}
	hang_release(&rows);
	return count;
}

/* ---- ucxbpf pending ---- */

/* A process, or one of its threads that is in MPI. */
struct pending_row {
	const struct fact_process *process;
	const struct fact_thread *thread; /* NULL: it was not looked at */
	const struct fact_open *open; /* NULL: no call that stays open */
};

static void print_rank(char *cell, size_t size, const void *row, const void *context)
{
	text_process(context, cell, size, ((const struct pending_row *)row)->process->index);
}

static void print_pid(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%u", ((const struct pending_row *)row)->process->pid);
}

static void print_host(char *cell, size_t size, const void *row, const void *context)
{
	const char *host = ((const struct pending_row *)row)->process->host_name;

	(void)context;
	snprintf(cell, size, "%s", host ? host : "unknown");
}

static void print_state(char *cell, size_t size, const void *row, const void *context)
{
	const struct fact_thread *thread = ((const struct pending_row *)row)->thread;

	(void)context;
	snprintf(cell, size, "%s", thread && thread->state ? thread->state : "unknown");
}

static void print_where(char *cell, size_t size, const void *row, const void *context)
{
	const struct fact_thread *thread = ((const struct pending_row *)row)->thread;

	(void)context;
	if (!thread)
		snprintf(cell, size, "unknown");
	else if (thread->function)
		snprintf(cell, size, "%s", thread->function);
	else if (thread->outside)
		snprintf(cell, size, "outside of MPI");
	else
		snprintf(cell, size, "%s", thread->reason ? thread->reason : "unknown");
}

static void print_since(char *cell, size_t size, const void *row, const void *context)
{
	const struct fact_open *open = ((const struct pending_row *)row)->open;
	const struct text_report *text = context;
	char number[40];

	if (!open)
		return;
	unit_time(number, sizeof(number), open->until - open->since, text->options->exact);
	snprintf(cell, size, "%s%s", open->bound ? text->at_least : "", number);
}

const char *text_peer(const struct fact_open *open, char *line, size_t size)
{
	line[0] = '\0';
	if (open->peer_rank < 0 && open->tag < 0)
		return line;
	if (!open->peer_certain)
		text_append(line, size, "perhaps ");
	if (open->peer_rank >= 0)
		text_append(line, size, "%s rank %d%s", strstr(open->op, "recv") ? "from" : "to",
			    open->peer_rank, open->tag >= 0 ? ", " : "");
	if (open->tag >= 0)
		text_append(line, size, "tag %d", open->tag);
	return line;
}

/* In words; "": not known. */
const char *text_step(const struct text_report *text, const struct fact_open *open, char *line,
		      size_t size)
{
	static const struct {
		const char *step, *words;
	} steps[] = {
		{ FACT_STEP_QUEUED, "not sent yet" },
		{ FACT_STEP_ANNOUNCED, "announced, no answer yet" },
		{ FACT_STEP_UNRECEIVED, "arrived, no receive posted" },
		{ FACT_STEP_UNACKNOWLEDGED, "all data sent, not acknowledged" },
		{ FACT_STEP_MATCHED, "matched, no data yet" },
		{ FACT_STEP_DATA, "data is moving" },
		{ FACT_STEP_POSTED, "no message yet" },
	};
	char moved[40], bytes[40];

	line[0] = '\0';
	for (size_t i = 0; open->step && i < ARRAY_SIZE(steps); i++)
		if (!strcmp(open->step, steps[i].step))
			text_append(line, size, "%s", steps[i].words);
	if (!*line || open->moved == UINT64_MAX || open->bytes == UINT64_MAX)
		return line;
	unit_bytes(moved, sizeof(moved), open->moved, text->options->exact);
	unit_bytes(bytes, sizeof(bytes), open->bytes, text->options->exact);
	text_append(line, size, ", %s of %s", moved, bytes);
	return line;
}

static void print_step(char *cell, size_t size, const void *row, const void *context)
{
	const struct fact_open *open = ((const struct pending_row *)row)->open;

	if (!open)
		return;
	if (!*text_step(context, open, cell, size) && open->op)
		snprintf(cell, size, "unknown");
}

static void print_awaited(char *cell, size_t size, const void *row, const void *context)
{
	const struct fact_open *open = ((const struct pending_row *)row)->open;

	char peer[64];

	(void)context;
	if (!open || !open->op)
		return;
	snprintf(cell, size, "%s", strstr(open->op, "recv") ? "receive" : "send");
	if (*text_peer(open, peer, sizeof(peer)))
		text_append(cell, size, "%s %s", open->peer_rank < 0 ? "," : "", peer);
}

/* "42 of MPI_COMM_WORLD", "? of context 5" */
static void print_number(char *cell, size_t size, const void *row, const void *context)
{
	const struct fact_open *open = ((const struct pending_row *)row)->open;

	(void)context;
	if (!open || (!open->sequence && !open->sequence_reason))
		return;
	if (open->sequence)
		snprintf(cell, size, "%" PRIu64, open->sequence);
	else
		snprintf(cell, size, "?");
	if (open->comm && !strcmp(open->comm, "MPI_COMM_WORLD"))
		text_append(cell, size, " of %s", open->comm);
	else if (open->context >= 0)
		text_append(cell, size, " of context %d", open->context);
}

static void print_site(char *cell, size_t size, const void *row, const void *context)
{
	const struct fact_thread *thread = ((const struct pending_row *)row)->thread;

	(void)context;
	snprintf(cell, size, "%s", thread && thread->place ? thread->place->label : "");
}

static const struct table_column pending_columns[] = {
	{ "rank", false, 0, 0, print_rank },     { "pid", false, 0, 2, print_pid },
	{ "host", true, 0, 3, print_host },      { "state", true, 0, 1, print_state },
	{ "in", true, 40, 0, print_where },      { "for", false, 0, 0, print_since },
	{ "number", true, 24, 2, print_number }, { "waits for", true, 40, 0, print_awaited },
	{ "step", true, 40, 1, print_step },     { "at", true, 30, 4, print_site },
};

/* (process, thread) -> position + 1 of the call that it is in. */
static void index_open(const struct report *report, struct map *index)
{
	for (size_t i = report->waits.open.len; i-- > 0;) {
		const struct fact_open *open = &report->waits.open.data[i];

		if (hang_noticed(open))
			*map_insert(index, (uint64_t)(int64_t)open->process, open->tid, NULL) =
				i + 1;
	}
}

static const struct fact_open *open_of(const struct report *report, const struct map *index,
				       const struct fact_thread *thread)
{
	const uint64_t *at = map_find(index, (uint64_t)(int64_t)thread->process, thread->tid);

	return at ? &report->waits.open.data[*at - 1] : NULL;
}

static int by_rank(const void *left, const void *right)
{
	const struct pending_row *a = left, *b = right;

	if (a->process->rank != b->process->rank)
		return a->process->rank - b->process->rank;
	return a->process->index - b->process->index;
}

/* A thread outside of MPI is a row only where it is the first of its process. */
static void put_threads(const struct text_report *text)
{
	const struct report *report = text->report;
	VEC(struct pending_row) all = { 0 };
	VEC(const void *) rows = { 0 };
	struct report_table table = { pending_columns, ARRAY_SIZE(pending_columns), text, NULL, 0 };
	struct map index = { 0 };

	index_open(report, &index);
	for (size_t i = 0; i < report->waits.hang.threads.len; i++) {
		const struct fact_thread *thread = &report->waits.hang.threads.data[i];
		const struct report_process *process = report_process_at(report, thread->process);

		if (process)
			vec_push(&all, ((struct pending_row){ &process->fact, thread,
							      open_of(report, &index, thread) }));
	}
	if (all.len)
		qsort(all.data, all.len, sizeof(*all.data), by_rank);
	for (size_t i = 0; i < all.len; i++)
		vec_push(&rows, &all.data[i]);
	table.rows = rows.data;
	table.row_count = rows.len;
	table_print(text->out, text->options, &table);
	fputc('\n', text->out);
	map_release(&index);
	vec_release(&rows);
	vec_release(&all);
}

static void print_queued_rank(char *cell, size_t size, const void *row, const void *context)
{
	text_process(context, cell, size, ((const struct fact_queued *)row)->process);
}

static void print_what(char *cell, size_t size, const void *row, const void *context)
{
	const struct fact_queued *queued = row;

	(void)context;
	snprintf(cell, size, "%s",
		 !strcmp(queued->what, "message") ? "message, no receive" : queued->what);
}

static void print_peer(char *cell, size_t size, const void *row, const void *context)
{
	const struct fact_queued *queued = row;

	(void)context;
	if (queued->peer_rank >= 0)
		snprintf(cell, size, "%d", queued->peer_rank);
	else
		snprintf(cell, size, "?");
}

static void print_tag(char *cell, size_t size, const void *row, const void *context)
{
	const struct fact_queued *queued = row;

	(void)context;
	if (queued->tag >= 0)
		snprintf(cell, size, "%d", queued->tag);
	else
		snprintf(cell, size, "?");
}

static void print_comm(char *cell, size_t size, const void *row, const void *context)
{
	const struct fact_queued *queued = row;

	(void)context;
	if (queued->comm)
		snprintf(cell, size, "%s (context %" PRIu64 ")", queued->comm, queued->context);
}

static void print_bytes(char *cell, size_t size, const void *row, const void *context)
{
	const struct fact_queued *queued = row;
	const struct text_report *text = context;

	if (queued->bytes == UINT64_MAX)
		snprintf(cell, size, "?");
	else
		unit_bytes(cell, size, queued->bytes, text->options->exact);
}

static const struct table_column queued_columns[] = {
	{ "rank", false, 0, 0, print_queued_rank }, { "queued", true, 0, 0, print_what },
	{ "peer", false, 0, 0, print_peer },        { "tag", false, 0, 0, print_tag },
	{ "communicator", true, 0, 1, print_comm }, { "bytes", false, 0, 2, print_bytes },
};

static void put_queued(const struct text_report *text)
{
	static const size_t limits[TEXT_LIMITS] = { 16, 256 };
	const struct report_waits *waits = &text->report->waits;
	struct report_table table = { queued_columns, ARRAY_SIZE(queued_columns), text, NULL, 0 };
	VEC(const void *) rows = { 0 };

	if (!waits->queued.len)
		return;
	for (size_t i = 0; i < waits->queued.len; i++)
		vec_push(&rows, &waits->queued.data[i]);
	table.rows = rows.data;
	table.row_count = text_limit(text, rows.len, limits);
	table_print(text->out, text->options, &table);
	text_end(text, table.row_count, rows.len);
	vec_release(&rows);
}

void text_unread(const struct text_report *text)
{
	static const size_t limits[TEXT_LIMITS] = { 8, 64 };
	const struct report_waits *waits = &text->report->waits;
	const size_t shown = text_limit(text, waits->unread.len, limits);

	for (size_t i = 0; i < shown; i++) {
		const struct fact_unread *unread = &waits->unread.data[i];
		char *line;
		size_t size;
		FILE *out = xmemstream(&line, &size);

		name(text, unread->process, out);
		if (unread->reason)
			fprintf(out, ": not all of its queues could be read: %s", unread->reason);
		if (unread->entries)
			fprintf(out, "%s %" PRIu64 " more entr%s in its queues",
				unread->reason ? ";" : ":", unread->entries,
				unread->entries == 1 ? "y" : "ies");
		fclose(out);
		text_paragraph(text, 0, line, STYLE_WARN);
		free(line);
	}
	if (shown < waits->unread.len)
		fprintf(text->out, "and %zu more (-v)\n", waits->unread.len - shown);
}

static size_t count_open(const struct report *report)
{
	size_t count = 0;

	for (size_t i = 0; i < report->waits.open.len; i++)
		count += hang_noticed(&report->waits.open.data[i]);
	return count;
}

/* Whether some call may be open, without being noticed. */
static bool in_mpi(const struct report *report)
{
	for (size_t i = 0; i < report->waits.hang.threads.len; i++)
		if (!report->waits.hang.threads.data[i].outside)
			return true;
	return report->waits.open.len > 0;
}

int report_pending_text(const struct report *report, const struct report_text_options *options,
			FILE *out)
{
	struct text_report text;

	text_begin(&text, report, options, out);
	if (!count_open(report))
		fprintf(out, in_mpi(report) ? "No MPI call is known to stay open.\n"
					    : "No MPI call stays open.\n");
	else if (!text_behind(&text, SIZE_MAX))
		fprintf(out, "Who is behind is not known.\n");
	fputc('\n', out);
	put_threads(&text);
	put_queued(&text);
	if (report->waits.unread.len && report->waits.queued.len)
		fputc('\n', out);
	text_unread(&text);
	return text_finish(out);
}
