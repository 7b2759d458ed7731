// SPDX-License-Identifier: BSD-3-Clause
/* The section NOT KNOWN: losses, and reasons for unknown values. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "show/report/text.h"
#include "base/text.h"
#include "base/units.h"

#define LABEL 15
#define LINE 2048

static void paragraph(const struct text_report *text, const char *label, const char *words,
		      bool warn)
{
	fprintf(text->out, "  %-*s", LABEL - 2, label);
	text_paragraph(text, LABEL, words, warn ? STYLE_WARN : STYLE_PLAIN);
}

static void add_bytes(const struct text_report *text, char *line, uint64_t bytes)
{
	char number[40];

	unit_bytes(number, sizeof(number), bytes, text_is_exact(text));
	text_append(line, LINE, "%s", number);
}

static void add_count(const struct text_report *text, char *line, uint64_t count)
{
	text_count(text, line, LINE, count);
}

/* " (reason 3, other reason 1)"; add: writes a number. */
static void add_reasons(const struct text_report *text, char *line, const struct fact_reason *from,
			void (*add)(const struct text_report *text, char *line, uint64_t number))
{
	struct fact_reason reasons[FACT_MAX_REASONS];
	int count = report_reasons(from, reasons);

	for (int i = 0; i < count; i++) {
		text_append(line, LINE, "%s%s ", i ? ", " : " (", reasons[i].reason);
		add(text, line, reasons[i].count);
	}
	if (count)
		text_append(line, LINE, ")");
}

static void loss(const struct text_report *text)
{
	const struct fact_totals *totals = &text->report->totals;
	uint64_t lost = totals->produced - totals->stored;
	bool on_purpose = lost && lost == totals->thinned && !totals->partial;
	char line[LINE] = "", share[16];

	if (on_purpose) {
		text_append(line, LINE, "none for want of room, see 'detail'");
	} else if (!lost && totals->partial) {
		text_append(line, LINE, "not known, a capture is not whole: ");
		text_count(text, line, LINE, totals->produced);
		text_append(line, LINE, " records are here");
	} else if (!lost) {
		text_append(line, LINE, "none, all ");
		text_count(text, line, LINE, totals->produced);
		text_append(line, LINE, " records are here");
	} else {
		unit_share(share, sizeof(share), lost, totals->produced);
		text_count(text, line, LINE, lost);
		text_append(line, LINE, " of ");
		text_count(text, line, LINE, totals->produced);
		text_append(line, LINE, " records, %s", share);
		add_reasons(text, line, totals->dropped, add_count);
		if (totals->partial)
			text_append(line, LINE, ", or more: a capture is not whole");
	}
	paragraph(text, "lost", line, totals->partial || (lost && !on_purpose));
}

static void add_detail(const struct text_report *text, char *line, const char *what,
		       const struct detail_share *detail)
{
	char share[16];

	if (!detail->of)
		return;
	unit_share(share, sizeof(share), detail->recorded, detail->of);
	text_append(line, LINE, "%s%s of %s (", *line ? ", " : "", share, what);
	text_count(text, line, LINE, detail->recorded);
	text_append(line, LINE, " of ");
	text_count(text, line, LINE, detail->of);
	text_append(line, LINE, ")");
}

/* Shares of single calls, operations and transfers; sums cover all. */
static void detail(const struct text_report *text)
{
	const struct fact_totals *totals = &text->report->totals;
	char line[LINE] = "";

	if (!report_lacks_detail(totals))
		return;
	add_detail(text, line, "calls", &totals->calls);
	add_detail(text, line, "operations", &totals->ops);
	add_detail(text, line, "transfers", &totals->transfers);
	add_detail(text, line, "sends", &totals->sent);
	if (totals->unsummed) {
		text_append(line, LINE, "%sat least ", *line ? "; " : "");
		text_count(text, line, LINE, totals->unsummed);
		text_append(line, LINE, " records of these are in no sum");
	} else if (totals->partial) {
		text_append(line, LINE, "; sums lack what the capture lacks");
	} else {
		text_append(line, LINE, "; the rest is in all sums");
	}
	paragraph(text, "detail", line, totals->unsummed || totals->partial);
}

/* "1 KiB of 3 KiB", with a noun. */
static void add_part(const struct text_report *text, char *line, uint64_t part, uint64_t all,
		     const char *what)
{
	add_bytes(text, line, part);
	text_append(line, LINE, " of ");
	add_bytes(text, line, all);
	text_append(line, LINE, " %s", what);
}

/* The same, with the part's share and its reasons. */
static void add_unknown(const struct text_report *text, char *line, uint64_t part, uint64_t all,
			const char *what, const struct fact_reason *reasons)
{
	char share[16];

	add_part(text, line, part, all, what);
	unit_share(share, sizeof(share), part, all);
	if (part)
		text_append(line, LINE, ", %s", share);
	add_reasons(text, line, reasons, add_bytes);
}

static void unattributed(const struct text_report *text)
{
	const struct fact_totals *totals = &text->report->totals;
	uint64_t outside = totals->to_op_bytes - totals->to_call_bytes;
	char line[LINE] = "";

	add_unknown(text, line, totals->unexplained_bytes, totals->data_bytes,
		    "data bytes have no operation", totals->unexplained);
	if (totals->to_op_bytes > totals->to_call_bytes) {
		text_append(line, LINE, "; ");
		add_bytes(text, line, outside);
		text_append(line, LINE, " outside MPI calls");
		if (strcmp(text->outside, FACT_OUTSIDE_MPI))
			text_append(line, LINE, " (%s)", text->outside);
	}
	paragraph(text, "unattributed", line, totals->unexplained_bytes);
}

static void copies(const struct text_report *text)
{
	const struct fact_totals *totals = &text->report->totals;
	char line[LINE] = "";

	if (!totals->copy_unexplained_bytes)
		return;
	add_part(text, line, totals->copy_unexplained_bytes, totals->copy_bytes,
		 "copied within processes have no operation");
	paragraph(text, "copies", line, totals->copy_unexplained_bytes);
}

/* Each message's own transfers and copies have its bytes, and join up. */
static void ways(const struct text_report *text)
{
	const struct fact_totals *totals = &text->report->totals;
	char line[LINE] = "";

	if (!totals->way_bytes)
		return;
	add_unknown(text, line, totals->wayless_bytes, totals->way_bytes,
		    "in messages have no known way", totals->wayless);
	paragraph(text, "ways", line, totals->wayless_bytes);
}

static uint64_t reason_sum(const struct fact_reason *from)
{
	uint64_t sum = 0;

	for (int i = 0; i < FACT_MAX_REASONS; i++)
		sum += from[i].reason ? from[i].count : 0;
	return sum;
}

/* Unknowns of captures made with --count, for all or for some of them. */
static void counted(const struct text_report *text)
{
	const struct fact_totals *totals = &text->report->totals;
	char line[LINE] = "";

	if (!totals->counted)
		return;
	if (totals->counted < totals->captures)
		text_append(line, LINE, "%" PRIu64 " of %" PRIu64 " captures: ", totals->counted,
			    totals->captures);
	text_append(
		line, LINE,
		"added up in the kernel (--count): no messages, protocols, failures, lengths of "
		"receives, times of calls; times are of one transfer or operation in %" PRIu64
		", taken at random",
		totals->timed_every);
	paragraph(text, "counted", line, false);
}

static void unmatched(const struct text_report *text)
{
	const struct fact_totals *totals = &text->report->totals;
	uint64_t sends = reason_sum(totals->unmatched_sends);
	uint64_t receives = reason_sum(totals->unmatched_receives);
	char line[LINE] = "";

	if (report_only_counts(text->report))
		return paragraph(text, "unmatched", "not known, see 'counted'", false);
	text_count(text, line, LINE, sends);
	text_append(line, LINE, " of ");
	text_count(text, line, LINE, totals->sends);
	text_append(line, LINE, " sends");
	add_reasons(text, line, totals->unmatched_sends, add_count);
	text_append(line, LINE, ", ");
	text_count(text, line, LINE, receives);
	text_append(line, LINE, " of ");
	text_count(text, line, LINE, totals->receives);
	text_append(line, LINE, " receives");
	add_reasons(text, line, totals->unmatched_receives, add_count);
	if (totals->ambiguous) {
		text_append(line, LINE, "; ambiguous ");
		text_count(text, line, LINE, totals->ambiguous);
	}
	paragraph(text, "unmatched", line, sends || receives || totals->ambiguous);
}

/* The errors of captures made with --count, by what failed and its status. */
static void counted_errors(const struct text_report *text, char line[LINE], bool beside)
{
	static const struct cube_shape by_status = {
		2,
		{ { "what", CUBE_STRING, NULL }, { "status", CUBE_STRING, NULL } },
	};
	const struct cube_row **rows;
	struct cube errors;

	cube_init(&errors, &by_status);
	cube_rollup(&errors, &text->report->errors);
	rows = cube_sorted(&errors, CUBE_BY_KEYS);
	if (beside)
		text_append(line, LINE, "; of captures made with --count: ");
	for (size_t i = 0; i < errors.rows.len; i++) {
		text_append(line, LINE, "%s%s %s ", i ? ", " : "",
			    cube_key_text(&by_status.keys[0], rows[i]->key[0]),
			    cube_key_text(&by_status.keys[1], rows[i]->key[1]));
		text_count(text, line, LINE, rows[i]->sums.count);
	}
	text_append(line, LINE, "%sother operations that failed: not known",
		    errors.rows.len ? "; " : "");
	free(rows);
	cube_release(&errors);
}

/* A number of events of a layer, which may not have been recorded all the time. */
static void add_recorded(const struct text_report *text, char line[LINE], enum level level,
			 uint64_t count)
{
	const char *bound = text_layer_bound(text, level, count);

	text_append(line, LINE, "%s", bound ? bound : "not known");
	if (bound)
		text_count(text, line, LINE, count);
}

static void retries_and_errors(const struct text_report *text)
{
	const struct report *report = text->report;
	uint64_t retries = 0, errors = 0, lengths = 0;
	char line[LINE] = "";

	for (size_t i = 0; i < report->transfers.rows.len; i++) {
		retries += report->transfers.rows.data[i].sums.retries;
		lengths += report->transfers.rows.data[i].sums.bytes_unknown;
	}
	for (size_t i = 0; i < report->ops.rows.len; i++)
		errors += report->ops.rows.data[i].sums.errors;
	add_recorded(text, line, LEVEL_UCT, retries);
	text_append(line, LINE, " for want of resources; ");
	if (!report_only_counts(report)) {
		text_append(line, LINE, "operations that failed: ");
		add_recorded(text, line, LEVEL_UCP, errors);
	}
	if (report->totals.counted)
		counted_errors(text, line, !report_only_counts(report));
	if (lengths) {
		text_append(line, LINE, "; transfers of unknown length: ");
		text_count(text, line, LINE, lengths);
	}
	paragraph(text, "retries", line, errors || lengths || report->errors.rows.len);
}

static void notes(const struct text_report *text)
{
	struct fact_reason reasons[FACT_MAX_REASONS];
	int count = report_reasons(text->report->totals.notes, reasons);

	for (int i = 0; i < count; i++) {
		char line[LINE] = "";

		text_append(line, LINE, "%s", reasons[i].reason);
		if (reasons[i].count > 1) {
			text_append(line, LINE, ": ");
			text_count(text, line, LINE, reasons[i].count);
		}
		paragraph(text, i ? "" : "notes", line, true);
	}
}

static void add_time(const struct text_report *text, char *line, uint64_t ns)
{
	char number[40];

	unit_time(number, sizeof(number), ns, text_is_exact(text));
	text_append(line, LINE, "%s", number);
}

static bool has_budget(const struct report *report)
{
	for (size_t i = 0; i < report->windows.len; i++)
		if (report->windows.data[i].step)
			return true;
	return false;
}

static void add_never(const struct text_report *text, char *line, enum level level)
{
	text_append(line, LINE, "%s",
		    level == LEVEL_UCP
			    ? "operations were not recorded, nor transfers and messages"
			    : "transfers were not recorded, so that no message or wait is known");
	if (!has_budget(text->report))
		text_append(line, LINE, " (level %s)", level_names[level - 1]);
}

static void add_partly(const struct text_report *text, char *line, const char *what, uint64_t ns)
{
	text_append(line, LINE, "%s were recorded in ", what);
	add_time(text, line, ns);
	text_append(line, LINE, " of ");
	add_time(text, line, text->report->totals.self.level_ns[LEVEL_MPI]);
}

/* Why values that follow from a layer are unknown, or lower bounds. */
static void layers(const struct text_report *text)
{
	const uint64_t *ns = text->report->totals.self.level_ns;
	const enum fact_extent ops = report_recorded(text->report, LEVEL_UCP);
	const enum fact_extent transfers = report_recorded(text->report, LEVEL_UCT);
	const bool alike = ops == RECORDED_PARTLY && ns[LEVEL_UCP] == ns[LEVEL_UCT];
	char line[LINE] = "";

	if (transfers == RECORDED_ALWAYS)
		return;
	if (ops == RECORDED_NEVER)
		add_never(text, line, LEVEL_UCP);
	else if (ops == RECORDED_PARTLY)
		add_partly(text, line, alike ? "operations and transfers" : "operations",
			   ns[LEVEL_UCP]);
	if (ops != RECORDED_NEVER && !alike) {
		text_append(line, LINE, "%s", *line ? "; " : "");
		if (transfers == RECORDED_NEVER)
			add_never(text, line, LEVEL_UCT);
		else
			add_partly(text, line, "transfers", ns[LEVEL_UCT]);
	}
	if (has_budget(text->report))
		text_append(line, LINE, "; --budget none records all layers");
	paragraph(text, "layers", line, false);
}

void text_unknown(const struct text_report *text)
{
	style_on(text->out, text->options, STYLE_BOLD);
	fputs("NOT KNOWN", text->out);
	style_off(text->out, text->options, STYLE_BOLD);
	fputs(text->report->filtering ? "  (of the whole capture, but for retries)\n" : "\n",
	      text->out);
	counted(text);
	loss(text);
	detail(text);
	layers(text);
	if (report_recorded(text->report, LEVEL_UCT) != RECORDED_NEVER) {
		unattributed(text);
		copies(text);
		ways(text);
	}
	if (report_recorded(text->report, LEVEL_UCP) != RECORDED_NEVER) {
		unmatched(text);
		retries_and_errors(text);
	}
	notes(text);
}
