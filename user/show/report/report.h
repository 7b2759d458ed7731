/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report of a trace: sums up facts in rows, and prints them as text for a terminal or as JSON
 * (docs/report.md). Memory grows with the number of distinct rows, not with the number of facts.
 * The same facts give the same bytes: rows are sorted by their keys, and nothing depends on the
 * current time.
 */
#ifndef UCXBPF_REPORT_REPORT_H
#define UCXBPF_REPORT_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "explain/facts/facts.h"
#include "show/report/filter.h"

struct report;

/*
 * filter may be NULL (everything); else it must outlive the report. Strings of the facts must live
 * until report_free(), so free the analysis after the report.
 */
struct report *report_new(struct report_filter *filter);

/* The recorded levels of a budget's step (fact_window.step), in words. */
const char *report_step_text(const char *step);

void report_free(struct report *report);

/* The sink that feeds this report; valid until report_free(). */
struct fact_sink report_sink(struct report *report);

/* Sets the totals over the whole input, which no filter affects. Call once, before printing. */
void report_finish(struct report *report, const struct fact_totals *totals);

struct report_text_options {
	int verbose; /* 0: one screen; 1: more rows and columns; 2: every row */
	bool exact; /* plain numbers instead of KiB, ms */
	bool colour;
	bool utf8;
	int width; /* columns available */
};

/*
 * Suitable options for this stream: width, colour and character set of a terminal; else plain text
 * as wide as COLUMNS, or 100.
 */
void report_text_options_detect(struct report_text_options *options, FILE *out);

/* Returns 0 or -errno of a failed write. */
int report_text(const struct report *report, const struct report_text_options *options, FILE *out);

/* The amount that a line of folded stacks counts. */
enum report_amount { REPORT_CALLS, REPORT_TIME, REPORT_BYTES, REPORT_AMOUNTS };

/* "calls", "time" or "bytes"; REPORT_AMOUNTS for any other word. */
enum report_amount report_amount_find(const char *name);

/*
 * Writes stacks of calls, and of operations outside of calls, for flame graph programs:
 * "outermost;...;innermost;MPI_Send N" per line, N calls or operations, their ns or bytes.
 * -ENODATA: no capture has stacks; -errno of a failed write.
 */
int report_folded(const struct report *report, enum report_amount amount, FILE *out);

/* Whether some facts are known only as sums, or not at all. */
bool report_lacks_detail(const struct fact_totals *totals);

/*
 * Losses, unmatched and unexplained data, and information about the captures, as members of one
 * object, for formats that show the rows differently. The caller owns it.
 */
json_t *report_totals_json(const struct fact_totals *totals);

/* The filter as JSON, null: everything passes. The caller owns it. */
json_t *report_filter_json(const struct report_filter *filter);

/* Schema "ucxbpf.report/1". Returns 0 or -errno of a failed write. */
int report_json(const struct report *report, FILE *out);

/*
 * Calls and operations under way, and who is behind (docs/ucxbpf-pending.1.md), of captures whose
 * processes were looked at. Return 0 or -errno of a failed write. Schema "ucxbpf.pending/1".
 */
int report_pending_text(const struct report *report, const struct report_text_options *options,
			FILE *out);
int report_pending_json(const struct report *report, FILE *out);

/*
 * The same report in pieces, for other formats: members that are not tables, and the tables row by
 * row. Values are valid during the call.
 */
struct report_visitor {
	void *arg;
	void (*member)(void *arg, const char *name, const json_t *value);
	void (*table)(void *arg, const char *name); /* starts a table */
	void (*row)(void *arg, const char *table, const json_t *row);
};

/* Calls the visitor for all of it, in the order of the schema. */
void report_visit(const struct report *report, const struct report_visitor *visitor);

#endif
