/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares runs of a program: some before a change, some after it. Takes the facts of each run,
 * finds the differences, and shows them as text, as JSON (docs/diff.md) and as a page. A number
 * that varies between equal runs differs only outside its spread. The same facts give the same
 * bytes.
 */
#ifndef UCXBPF_DIFF_DIFF_H
#define UCXBPF_DIFF_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "explain/facts/facts.h"
#include "show/report/report.h"

enum diff_side { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

struct diff;

struct diff *diff_new(void);
void diff_free(struct diff *diff);

/*
 * Begins a run of a side, whose facts the sink takes until diff_end(). name: its captures, for
 * readers. Each side needs a run. Facts may be freed after diff_end().
 */
struct fact_sink diff_begin(struct diff *diff, enum diff_side side, const char *name);
void diff_end(struct diff *diff, const struct fact_totals *totals);

struct diff_outcome {
	size_t differences;
	/* some data were not compared because captures are damaged, cut short or lack records */
	bool incomplete;
};

/* Once, after all runs. The output functions come after it. */
struct diff_outcome diff_compare(struct diff *diff);

/* Each returns 0 or -errno of a failed write. */
int diff_text(const struct diff *diff, const struct report_text_options *options, FILE *out);
int diff_json(const struct diff *diff, FILE *out); /* schema "ucxbpf.diff/1" */
int diff_html(const struct diff *diff, FILE *out);

#endif
