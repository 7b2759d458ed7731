// SPDX-License-Identifier: BSD-3-Clause
/* The text report: its sections in their order. */
#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "show/report/text.h"

static int by_rank(const void *left, const void *right)
{
	int a = *(const int *)left, b = *(const int *)right;

	return (a > b) - (a < b);
}

static bool ranks_unique(const struct report *report)
{
	VEC(int) ranks = { 0 };
	bool unique = true;

	for (size_t i = 0; i < report->processes.len; i++)
		if (report->processes.data[i].known && report->processes.data[i].fact.rank >= 0)
			vec_push(&ranks, report->processes.data[i].fact.rank);
	if (ranks.len)
		qsort(ranks.data, ranks.len, sizeof(int), by_rank);
	for (size_t i = 1; i < ranks.len; i++)
		unique = unique && ranks.data[i] != ranks.data[i - 1];
	vec_release(&ranks);
	return unique;
}

static bool nothing_seen(const struct report *report)
{
	return !report->calls.rows.len && !report->ops.rows.len && !report->transfers.rows.len;
}

void text_begin(struct text_report *text, const struct report *report,
		const struct report_text_options *options, FILE *out)
{
	*text = (struct text_report){
		.report = report,
		.options = options,
		.out = out,
		.ranks_unique = ranks_unique(report),
		.arrow = options->utf8 ? "→" : "->",
		.at_most = options->utf8 ? "≤ " : "<=",
		.at_least = options->utf8 ? "≥ " : ">=",
	};
	text_outside(report, text->outside, sizeof(text->outside));
	errno = 0;
}

int report_text(const struct report *report, const struct report_text_options *options, FILE *out)
{
	struct text_report text;

	text_begin(&text, report, options, out);
	text_header(&text);
	text_processes(&text);
	text_deaths(&text);
	if (nothing_seen(report))
		fprintf(out, "No UCX or MPI activity %s.\n\n",
			report->filtering     ? "passes the filter"
			: report->windows.len ? "was recorded in these windows"
					      : "was captured");
	text_paths(&text);
	text_functions(&text);
	text_times(&text);
	text_waits(&text);
	text_collectives(&text);
	text_call_sites(&text);
	text_callers(&text);
	text_tags(&text);
	text_devices(&text);
	text_memory(&text);
	text_ways(&text);
	text_pairs(&text);
	text_networks(&text);
	text_sizes(&text);
	text_slowest(&text);
	text_clocks(&text);
	text_unknown(&text);
	return text_finish(out);
}
