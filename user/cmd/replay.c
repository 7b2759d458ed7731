// SPDX-License-Identifier: BSD-3-Clause
#include <argp.h>
#include <errno.h>

#include "base/alloc.h"
#include "base/confine.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "cmd/cmds.h"
#include "cmd/input/captures.h"
#include "cmd/output/output.h"
#include "explain/analysis/analysis.h"
#include "show/export/export.h"
#include "show/line/line.h"
#include "show/report/report.h"

enum { KEY_EXACT = 0x100, KEY_FOLDED, KEY_HTML, KEY_ALLOW_LOSS, KEY_SUMMARY_LINE };

struct replay {
	struct report_filter filter;
	struct captures captures;
	const char *output; /* NULL: standard output */
	bool json, exact, folded, html, line;
	enum report_amount amount; /* of folded */
	int verbose;
};

static void set_folded(struct argp_state *state, const char *what)
{
	struct replay *replay = state->input;

	replay->folded = true;
	replay->amount = what ? report_amount_find(what) : REPORT_CALLS;
	if (replay->amount == REPORT_AMOUNTS)
		argp_error(state, "--folded=%s: not calls, time or bytes", what);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct replay *replay = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &replay->filter;
		return 0;
	case 'j':
		replay->json = true;
		return 0;
	case 'o':
		replay->output = arg;
		return 0;
	case 'v':
		replay->verbose++;
		return 0;
	case KEY_FOLDED:
		set_folded(state, arg);
		return 0;
	case KEY_HTML:
		replay->html = true;
		return 0;
	case KEY_SUMMARY_LINE:
		replay->line = true;
		return 0;
	case KEY_ALLOW_LOSS:
		replay->captures.allow_loss = true;
		return 0;
	case KEY_EXACT:
		replay->exact = true;
		return 0;
	case ARGP_KEY_ARG:
		vec_push(&replay->captures.paths, arg);
		return 0;
	case ARGP_KEY_END:
		if (!replay->captures.paths.len)
			argp_error(state, "which capture? Give one FILE.ucxb or more");
		if (replay->json + replay->folded + replay->html + replay->line > 1)
			argp_error(state, "--json, --folded, --html, --summary-line: ask for one "
					  "report");
		if (replay->line && filter_active(&replay->filter))
			argp_error(state,
				   "--summary-line is of the whole capture, without filters");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const char doc[] =
	"Reports on captured event files: what moved, over what, for which MPI call. Give the files "
	"of all hosts of a job together, in any order, so that both ends of a message are known."
	"\v"
	"LIST is comma-separated; shell globs are allowed, case does not matter, and 'none' stands "
	"for absent or unknown values. Several filters must all hold. Totals of loss, matching and "
	"attribution are always those of the whole capture.\n\n"
	"Examples:\n"
	"  ucxbpf replay node1.ucxb node2.ucxb           the whole job on one screen\n"
	"  ucxbpf replay -vv --exact a.ucxb              every row, every digit\n"
	"  ucxbpf replay --function 'MPI_I*' a.ucxb      what non-blocking calls caused\n"
	"  ucxbpf replay --process 3 --kind data a.ucxb  the data transfers that rank 3 started\n"
	"  ucxbpf replay --transport 'rc_*,dc_*' a.ucxb  InfiniBand only\n"
	"  ucxbpf replay --summary-line a.ucxb           for a job's comment\n"
	"  ucxbpf replay --json a.ucxb | jq .transfers   for programs (docs/report.md)\n\n"
	"Exit status: 0 done, 2 usage, 3 no file could be read, 4 reported but a file is damaged, "
	"incomplete, unreadable or lacks over 1 % of its records, 1 anything else.";

static const struct argp_option options[] = {
	{ "json", 'j', NULL, 0, "Print JSON, schema ucxbpf.report/1", 1 },
	{ "output", 'o', "FILE", 0, "Write the report to FILE", 1 },
	{ "verbose", 'v', NULL, 0, "More rows and columns; twice: every row", 1 },
	{ "folded", KEY_FOLDED, "calls|time|bytes", OPTION_ARG_OPTIONAL,
	  "Print the stacks of calls and operations, a line per path, for flame graphs", 1 },
	{ "html", KEY_HTML, NULL, 0, "Write a page for a browser, with -o FILE", 1 },
	{ "summary-line", KEY_SUMMARY_LINE, NULL, 0,
	  "Print a line of JSON below 200 bytes for each job, schema ucxbpf.line/1", 1 },
	{ "allow-loss", KEY_ALLOW_LOSS, NULL, 0,
	  "End with 0 even if over 1 % of the records were lost", 1 },
	{ "exact", KEY_EXACT, NULL, 0, "Every digit instead of KiB and ms", 1 },
	{ 0 },
};

struct printing {
	const struct replay *replay;
	const struct report *report;
};

static int print_to(void *arg, FILE *out)
{
	const struct replay *replay = ((const struct printing *)arg)->replay;
	const struct report *report = ((const struct printing *)arg)->report;
	struct report_text_options options = { .verbose = replay->verbose, .exact = replay->exact };

	report_text_options_detect(&options, out);
	if (replay->folded)
		return report_folded(report, replay->amount, out);
	return replay->json ? report_json(report, out) : report_text(report, &options, out);
}

static int print(const struct replay *replay, const struct report *report)
{
	struct printing printing = { replay, report };
	int err = output_write(replay->output, NEWFILE_PRIVATE, print_to, &printing);

	/* a reader that stops early is no failure */
	if (err == -EPIPE)
		return 0;
	if (err == -ENODATA)
		log_error("the captures have no stacks: record them with --stacks");
	else if (err)
		log_error("%s: %s", output_name(replay->output), newfile_why(err));
	return err;
}

static int analyse(struct replay *replay, struct analysis *analysis)
{
	struct report *report = report_new(&replay->filter);
	struct fact_sink sink = report_sink(report);
	struct fact_totals totals = { 0 };
	int err;

	err = captures_find_causes(&replay->captures, "replay", &replay->filter);
	if (!err)
		err = captures_analyse(&replay->captures, analysis, "replay", &sink, &totals);
	if (!err) {
		report_finish(report, &totals);
		err = print(replay, report);
		captures_warn_of_loss(&replay->captures, &totals);
	}
	report_free(report);
	return err;
}

struct line_printing {
	const struct job_lines *lines;
	const struct fact_totals *totals;
};

static int print_lines(void *arg, FILE *out)
{
	const struct line_printing *printing = arg;

	return lines_write(printing->lines, printing->totals, out);
}

/* Filters are refused: a job's comment has no room to name them. */
static int summarize(struct replay *replay, struct analysis *analysis)
{
	struct job_lines *lines = lines_new();
	struct fact_sink sink = lines_sink(lines);
	struct fact_totals totals = { 0 };
	struct line_printing printing = { lines, &totals };
	int err = captures_analyse(&replay->captures, analysis, "replay", &sink, &totals);

	if (!err) {
		err = output_write(replay->output, NEWFILE_PRIVATE, print_lines, &printing);
		if (err == -EPIPE)
			err = 0;
		if (err)
			log_error("%s: %s", output_name(replay->output), newfile_why(err));
		captures_warn_of_loss(&replay->captures, &totals);
	}
	lines_free(lines);
	return err;
}

static int replay_files(struct replay *replay)
{
	struct analysis *analysis = analysis_new();
	int status, err;

	if (!captures_add(&replay->captures, analysis))
		status = UCXBPF_EXIT_INPUT;
	else if ((err = (replay->line ? summarize : analyse)(replay, analysis)))
		status = exit_unwritten("replay", err);
	else
		status = replay->captures.broken ? UCXBPF_EXIT_PARTIAL : UCXBPF_EXIT_OK;
	analysis_free(analysis);
	return status;
}

static int write_page(struct replay *replay)
{
	const struct export_request request = { .format = export_format_find("html"),
						.path = replay->output,
						.filter = &replay->filter };

	return export_captures("replay", &request, &replay->captures);
}

int cmd_replay(int argc, char **argv)
{
	struct filter_options filters;
	struct argp argp = { options, parse, "FILE...", doc, filter_options_init(&filters),
			     NULL,    NULL };
	struct replay replay = { 0 };
	int status = UCXBPF_EXIT_USAGE;

	if (xargp_parse(&argp, argc, argv, 0, &replay))
		goto out;
	confine_to_files();
	if (replay.html)
		status = write_page(&replay);
	else if (replay.output && captures_has(replay.output))
		log_error("%s: is a capture, not overwritten", replay.output);
	else
		status = replay_files(&replay);
out:
	filter_release(&replay.filter);
	captures_release(&replay.captures);
	return status;
}
