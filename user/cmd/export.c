// SPDX-License-Identifier: BSD-3-Clause
#include <argp.h>
#include <string.h>

#include "base/alloc.h"
#include "base/confine.h"
#include "base/exit_codes.h"
#include "cmd/cmds.h"
#include "show/page/page.h"
#include "cmd/input/captures.h"
#include "cmd/output/output.h"
#include "show/export/export.h"

enum { KEY_TABLE = 0x100, KEY_AMOUNT, KEY_WINDOW, KEY_BESIDE, KEY_ALLOW_LOSS };

struct export_arguments {
	struct export_request request;
	struct report_filter filter;
	struct captures captures;
	struct page_window window;
};

/* One line on stderr: which formats there are. */
static void set_format(struct argp_state *state, const char *name)
{
	struct export_arguments *arguments = state->input;
	const struct export_format *format;
	char known[256] = "";

	arguments->request.format = export_format_find(name);
	for (size_t i = 0; (format = export_format_at(i)); i++)
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s",
			 i ? ", " : "", format->name);
	if (!arguments->request.format)
		argp_error(state, "--format=%s: there is no such format, but %s", name, known);
}

static void check(struct argp_state *state)
{
	const struct export_arguments *arguments = state->input;

	if (!arguments->request.format)
		argp_error(state, "which format? Give one with --format, see --help");
	if (!arguments->captures.paths.len)
		argp_error(state, "which capture? Give one FILE.ucxb or more");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct export_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->filter;
		return 0;
	case 'f':
		set_format(state, arg);
		return 0;
	case 'o':
		arguments->request.path = strcmp(arg, "-") ? arg : NULL;
		return 0;
	case KEY_TABLE:
		arguments->request.table = arg;
		return 0;
	case KEY_WINDOW:
		if (page_window_parse(arg, &arguments->window))
			argp_error(state, "--window=%s: say FROM:TO, as in 2s:2.5s", arg);
		arguments->request.window = &arguments->window;
		return 0;
	case KEY_BESIDE:
		if (!page_beside(arg))
			argp_error(state,
				   "--beside=%s: say where it is from here, as in verdict.html",
				   arg);
		arguments->request.beside = arg;
		return 0;
	case KEY_AMOUNT:
		arguments->request.amount = report_amount_find(arg);
		if (arguments->request.amount == REPORT_AMOUNTS)
			argp_error(state, "--amount=%s: not calls, time or bytes", arg);
		return 0;
	case KEY_ALLOW_LOSS:
		arguments->captures.allow_loss = true;
		return 0;
	case ARGP_KEY_ARG:
		vec_push(&arguments->captures.paths, arg);
		return 0;
	case ARGP_KEY_END:
		check(state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const char doc[] =
	"Writes captured event files in the formats of other tools. Give the files of all hosts of "
	"a job together, in any order. The output appears whole or not at all."
	"\v"
	"Filters are those of ucxbpf replay. Loss, matching and attribution are always those of "
	"the whole capture, and are part of each format that has room for them.\n\n"
	"Examples:\n"
	"  ucxbpf export -f json -o report.json a.ucxb b.ucxb\n"
	"  ucxbpf export -f folded --amount time a.ucxb | flamegraph.pl >a.svg\n\n"
	"Exit status: 0 done, 2 usage, 3 no file could be read, 4 written but a file is damaged, "
	"incomplete, unreadable or lacks over 1 % of its records, 9 the disk is full, 1 anything else.";

/* The formats of the table, below the options. */
static char *help(int key, const char *text, void *input)
{
	const struct export_format *format;
	char *all = NULL;
	size_t size;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	out = xmemstream(&all, &size);
	fputs("Formats:\n", out);
	for (size_t i = 0; (format = export_format_at(i)); i++)
		fprintf(out, "  %-9s %s\n", format->name, format->help);
	fprintf(out, "\n%s", text);
	fclose(out);
	return all;
}

static const struct argp_option options[] = {
	{ "format", 'f', "FORMAT", 0, "One of the formats below", 1 },
	{ "output", 'o', "OUT", 0,
	  "Write to OUT, a file or for some formats a directory; without it, or -, to "
	  "standard output",
	  1 },
	{ "table", KEY_TABLE, "NAME", 0, "Of formats with tables: only this one, as one file", 1 },
	{ "window", KEY_WINDOW, "FROM:TO", 0,
	  "With html: keep single events of this time alone, from the first event of each host "
	  "on: 2s:2500ms (us, ms, s, min, h)",
	  1 },
	{ "beside", KEY_BESIDE, "FILE", 0,
	  "With html: link to a verdict's page, by its path relative to this one", 1 },
	{ "allow-loss", KEY_ALLOW_LOSS, NULL, 0,
	  "End with 0 even if over 1 % of the records were lost", 0 },
	{ "amount", KEY_AMOUNT, "calls|time|bytes", 0, "What folded stacks count", 1 },
	{ 0 },
};

int cmd_export(int argc, char **argv)
{
	struct filter_options filters;
	struct argp argp = { options, parse, "FILE...", doc, filter_options_init(&filters),
			     help,    NULL };
	struct export_arguments arguments = { 0 };
	int status = UCXBPF_EXIT_USAGE;

	arguments.request.filter = &arguments.filter;
	if (!xargp_parse(&argp, argc, argv, 0, &arguments)) {
		confine_to_files();
		status = export_captures("export", &arguments.request, &arguments.captures);
	}
	filter_release(&arguments.filter);
	captures_release(&arguments.captures);
	return status;
}
