// SPDX-License-Identifier: BSD-3-Clause
/* Calls that have not returned, the share of communication, waits and who caused them. */
#include "show/report/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"

#define LINE 512
#define LABEL "time:   "

static void add_share(const struct text_report *text, char *line, const char *bound, uint64_t part,
		      uint64_t whole)
{
	char share[16];

	text_share(text, share, sizeof(share), bound, part, whole);
	text_append(line, LINE, "%s", share);
}

/* ---- calls that have not returned ---- */

static void print_open(const struct text_report *text, const char *before,
		       const struct fact_open *open)
{
	char line[LINE] = "", who[48], peer[64], step[128];

	text_who(text, who, sizeof(who), open->process);
	text_append(line, LINE, "%s %s%s for %s", who, open->certain ? "in " : "perhaps still in ",
		    open->function, open->bound ? text->at_least : "");
	text_add_time(text, line, LINE, open->until - open->since);
	if (open->bound)
		text_append(line, LINE, " (began before the trace)");
	if (*text_peer(open, peer, sizeof(peer)))
		text_append(line, LINE, ", %s", peer);
	if (*text_step(text, open, step, sizeof(step)))
		text_append(line, LINE, " (%s)", step);
	if (open->place)
		text_append(line, LINE, ", at %s", open->place->label);
	fputs(before, text->out);
	text_paragraph(text, (int)strlen(before), line, STYLE_WARN);
}

void text_open(const struct text_report *text)
{
	static const size_t limits[TEXT_LIMITS] = { 8, 64 };
	const struct report_waits *waits = &text->report->waits;
	const uint64_t least = text->options->verbose ? 0 : HANG_NOTICED;
	size_t certain = 0, count = 0, shown;

	/* certain ones come first, then the oldest */
	for (size_t i = 0; i < waits->open.len; i++) {
		const bool noticed = waits->open.data[i].until - waits->open.data[i].since >= least;

		certain += noticed && waits->open.data[i].certain;
		count += noticed;
	}
	if (count == 1 && certain == 1) {
		print_open(text, "1 rank waits: ", &waits->open.data[0]);
		text_behind(text, 1);
		text_unread(text);
		return;
	}
	shown = text_limit(text, count, limits);
	if (certain)
		fprintf(text->out, "%zu rank%s:\n", certain, certain == 1 ? " waits" : "s wait");
	else if (count)
		fprintf(text->out, "%zu rank%s may wait:\n", count, count == 1 ? "" : "s");
	for (size_t i = 0, printed = 0; i < waits->open.len && printed < shown; i++) {
		if (waits->open.data[i].until - waits->open.data[i].since < least)
			continue;
		print_open(text, "  ", &waits->open.data[i]);
		printed++;
	}
	if (shown < count)
		fprintf(text->out, "  and %zu more (-v)\n", count - shown);
	if (certain)
		text_behind(text, shown);
	if (count)
		text_unread(text);
}

/* ---- the share of communication ---- */

struct shares {
	uint64_t span, least, waited, processes, timed;
	bool exact;
};

static struct shares shares_of(const struct report *report)
{
	struct shares shares = { .exact = true, .span = report_mpi_span(report) };

	for (size_t i = 0; i < report->waits.times.len; i++) {
		const struct process_time *time = &report->waits.times.data[i];

		if (!time->calls)
			continue;
		shares.processes++;
		shares.least += time->least;
		shares.waited += time->waited;
		shares.timed += time->timed;
		shares.exact = shares.exact && !time->unbounded && time->least == time->most;
	}
	return shares;
}

/* Time in calls that have not returned, which is in no wait. */
static uint64_t still_open(const struct report_waits *waits)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < waits->open.len; i++)
		if (waits->open.data[i].certain)
			sum += waits->open.data[i].until - waits->open.data[i].since;
	return sum;
}

void text_time_shares(const struct text_report *text)
{
	const struct shares shares = shares_of(text->report);
	const uint64_t open = still_open(&text->report->waits);
	const char *bound = shares.exact ? "" : text->at_least;
	char line[LINE] = "";

	if (!shares.processes || !shares.span || report_only_counts(text->report))
		return;
	if (!shares.timed) {
		fputs(LABEL "in MPI ?, no end of a call is known (--call-ends)\n", text->out);
		return;
	}
	text_append(line, LINE, "in MPI ");
	add_share(text, line, bound, shares.least, shares.span);
	text_append(line, LINE, " of the %s (%s", text->report->windows.len ? "windows" : "run",
		    bound);
	text_add_time(text, line, LINE, shares.least);
	text_append(line, LINE, " of ");
	text_add_time(text, line, LINE, shares.span);
	text_append(line, LINE, ", %" PRIu64 " process%s)", shares.processes,
		    shares.processes == 1 ? "" : "es");
	if (open) {
		text_append(line, LINE, ", ");
		text_add_time(text, line, LINE, open);
		text_append(line, LINE, " not returned");
	}
	if (shares.waited) {
		const bool partly = report_recorded(text->report, LEVEL_UCT) == RECORDED_PARTLY;

		text_append(line, LINE, ", waiting %s", partly ? text->at_least : "");
		text_add_time(text, line, LINE, shares.waited);
		if (!partly) {
			text_append(line, LINE, ", ");
			add_share(text, line, "", shares.waited, shares.least);
			text_append(line, LINE, " of that");
		}
	}
	fputs(LABEL, text->out);
	text_paragraph(text, (int)strlen(LABEL), line, STYLE_PLAIN);
}

/* ---- waits by kind and function ---- */

struct kind_row {
	const char *kind, *function;
	uint64_t count, ns, most;
	const struct wait_row *worst; /* the row with most time */
};

struct kinds {
	const struct text_report *text;
	VEC(struct kind_row) rows;
	uint64_t in_mpi;
};

static void add_kind(struct kinds *kinds, const struct wait_row *row)
{
	const char *kind = (const char *)(uintptr_t)row->key.kind;
	const char *function = (const char *)(uintptr_t)row->key.function;
	struct kind_row *into = NULL;

	for (size_t i = 0; i < kinds->rows.len && !into; i++)
		if (kinds->rows.data[i].kind == kind && kinds->rows.data[i].function == function)
			into = &kinds->rows.data[i];
	if (!into) {
		into = vec_add(&kinds->rows);
		into->kind = kind;
		into->function = function;
	}
	into->count += row->count;
	into->ns += row->ns;
	into->most = row->most > into->most ? row->most : into->most;
	if (!into->worst || row->ns > into->worst->ns)
		into->worst = row;
}

static int by_most(const void *left, const void *right)
{
	const struct kind_row *a = left, *b = right;
	int order = (a->ns < b->ns) - (a->ns > b->ns);

	order = order ? order : strcmp(a->kind, b->kind);
	return order ? order : strcmp(a->function, b->function);
}

static const struct kind_row *kind_of(const void *row)
{
	return row;
}

static const struct text_report *text_of(const void *context)
{
	return ((const struct kinds *)context)->text;
}

static void print_kind(char *cell, size_t size, const void *row, const void *context)
{
	static const char *const titles[WAIT_KINDS] = {
		[WAIT_LATE_SENDER] = "late sender",
		[WAIT_LATE_RECEIVER] = "late receiver",
		[WAIT_LATE_PROGRESS] = "late progress",
		[WAIT_AT_BARRIER] = "at barrier",
		[WAIT_AT_NXN] = "at N x N",
		[WAIT_LATE_BROADCAST] = "late broadcast",
		[WAIT_EARLY_REDUCE] = "early reduce",
		[WAIT_OUT_OF_RESOURCES] = "out of resources",
	};

	(void)context;
	for (int i = 0; i < WAIT_KINDS; i++)
		if (!strcmp(wait_kind_names[i], kind_of(row)->kind))
			snprintf(cell, size, "%s", titles[i]);
}

static void print_function(char *cell, size_t size, const void *row, const void *context)
{
	(void)context;
	snprintf(cell, size, "%s", kind_of(row)->function);
}

static void print_count(char *cell, size_t size, const void *row, const void *context)
{
	unit_count(cell, size, kind_of(row)->count, text_of(context)->options->exact);
}

static void print_sum(char *cell, size_t size, const void *row, const void *context)
{
	unit_time(cell, size, kind_of(row)->ns, text_of(context)->options->exact);
}

static void print_longest(char *cell, size_t size, const void *row, const void *context)
{
	unit_time(cell, size, kind_of(row)->most, text_of(context)->options->exact);
}

static void print_in_mpi(char *cell, size_t size, const void *row, const void *context)
{
	unit_share(cell, size, kind_of(row)->ns, ((const struct kinds *)context)->in_mpi);
}

static void print_who(char *cell, size_t size, const void *row, const void *context)
{
	const struct wait_row *worst = kind_of(row)->worst;
	char waits[32], culprit[32];

	text_process(text_of(context), waits, sizeof(waits), worst->key.process);
	text_process(text_of(context), culprit, sizeof(culprit), worst->key.culprit);
	snprintf(cell, size, "%s for %s, ", waits, culprit);
	unit_time(cell + strlen(cell), size - strlen(cell), worst->ns,
		  text_of(context)->options->exact);
}

static const struct table_column wait_columns[] = {
	{ "WAITING", true, 0, 0, print_kind },        { "in", true, 12, 0, print_function },
	{ "count", false, 0, 3, print_count },        { "time", false, 0, 0, print_sum },
	{ "of MPI time", false, 0, 2, print_in_mpi }, { "longest", false, 0, 4, print_longest },
	{ "most: rank", true, 0, 1, print_who },
};

/* ---- who caused them ---- */

/* One line, however long the name at its end. */
static void print_cut(const struct text_report *text, const char *line)
{
	char *plain = text_plain(line);
	bool cut = text_width(plain) > text->options->width - 2;

	fprintf(text->out, "  %.*s%s\n", (int)text_fit(plain, text->options->width - 2 - cut),
		plain,
		!cut                  ? ""
		: text->options->utf8 ? "…"
				      : "~");
	free(plain);
}

static void print_root(const struct text_report *text, const struct root_row *row, uint64_t whole)
{
	const struct place *place = report_place(text->report, row->key.place);
	const char *function = (const char *)(uintptr_t)row->key.function;
	const char *did = (const char *)(uintptr_t)row->key.did;
	const bool known = row->key.process >= 0;
	char line[LINE] = "", who[48] = "not known";

	if (known)
		text_who(text, who, sizeof(who), row->key.process);
	text_add_time(text, line, LINE, row->fresh);
	text_append(line, LINE, " (");
	add_share(text, line, "", row->fresh, whole);
	text_append(line, LINE, ") %s", who);
	if (known && !did && !function)
		text_append(line, LINE, ", call not known");
	else if (known)
		text_append(line, LINE, ", %s before %s", did ? did : "state unknown",
			    function ? function : "an unknown call");
	if (place)
		text_append(line, LINE, " at %s", place->label);
	print_cut(text, line);
}

static void print_roots(const struct text_report *text)
{
	static const size_t limits[TEXT_LIMITS] = { 3, 20 };
	const struct report_waits *waits = &text->report->waits;
	const size_t shown = text_limit(text, waits->roots.len, limits);
	uint64_t whole = 0;

	for (size_t i = 0; i < waits->roots.len; i++)
		whole += waits->roots.data[i].fresh;
	if (!whole)
		return;
	fprintf(text->out, "CAUSES OF WAITING, each moment once\n");
	for (size_t i = 0; i < shown; i++)
		print_root(text, &waits->roots.data[i], whole);
	text_end(text, shown, waits->roots.len);
}

void text_waits(const struct text_report *text)
{
	static const size_t limits[TEXT_LIMITS] = { 5, 40 };
	const struct report_waits *waits = &text->report->waits;
	struct kinds kinds = { .text = text };
	const void **rows = NULL;
	size_t shown, room = 0;

	for (size_t i = 0; i < waits->rows.len; i++)
		add_kind(&kinds, &waits->rows.data[i]);
	for (size_t i = 0; i < waits->times.len; i++)
		kinds.in_mpi += waits->times.data[i].least;
	if (kinds.rows.len) {
		qsort(kinds.rows.data, kinds.rows.len, sizeof(*kinds.rows.data), by_most);
		shown = text_limit(text, kinds.rows.len, limits);
		rows = vec_grow(NULL, &room, shown, sizeof(*rows));
		for (size_t i = 0; i < shown; i++)
			rows[i] = &kinds.rows.data[i];
		table_print(text->out, text->options,
			    &(struct report_table){ wait_columns, 7, &kinds, rows, shown });
		text_end(text, shown, kinds.rows.len);
		print_roots(text);
	}
	free(rows);
	vec_release(&kinds.rows);
}
