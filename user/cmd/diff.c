// SPDX-License-Identifier: BSD-3-Clause
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/confine.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "base/strings.h"
#include "cmd/cmds.h"
#include "cmd/input/captures.h"
#include "cmd/output/output.h"
#include "explain/analysis/analysis.h"
#include "show/diff/diff.h"

enum { KEY_HTML = 0x100, KEY_BEFORE, KEY_AFTER, KEY_EXACT };

/* A run: the captures of all its hosts, as one argument names them. */
struct run_argument {
	const char *name; /* the argument */
	struct captures captures;
};

struct diff_arguments {
	VEC(struct run_argument) sides[DIFF_SIDES];
	enum diff_side side; /* of the arguments that follow */
	bool named; /* --before or --after was given */
	const char *output; /* NULL: standard output */
	bool json, html, exact;
	int verbose;
	struct strings paths;
};

/* ---- runs ---- */

static bool is_file(const char *path)
{
	struct stat file;

	return !stat(path, &file) && !S_ISDIR(file.st_mode);
}

static bool is_directory(const char *path)
{
	struct stat file;

	return !stat(path, &file) && S_ISDIR(file.st_mode);
}

static int is_capture_name(const struct dirent *entry)
{
	const size_t length = strlen(entry->d_name);

	return length > 5 && !strcmp(entry->d_name + length - 5, ".ucxb");
}

static void add_path(struct diff_arguments *arguments, struct run_argument *run, char *path)
{
	vec_push(&run->captures.paths, strings_keep(&arguments->paths, path));
	free(path);
}

/* All captures of a directory, in order of their names. 0 or -errno. */
static int add_directory(struct diff_arguments *arguments, struct run_argument *run,
			 const char *path)
{
	struct dirent **entries;
	int count = scandir(path, &entries, is_capture_name, alphasort);

	if (count < 0)
		return -errno;
	for (int i = 0; i < count; i++) {
		add_path(arguments, run, xasprintf("%s/%s", path, entries[i]->d_name));
		free(entries[i]);
	}
	free(entries);
	return count ? 0 : -ENOENT;
}

/* FILE, FILE,FILE... or a directory. A file may have a comma in its name. */
static void add_run(struct argp_state *state, struct diff_arguments *arguments, enum diff_side side,
		    const char *name)
{
	struct run_argument *run = vec_add(&arguments->sides[side]);

	run->name = name;
	run->captures.refuses_twins = true;
	run->captures.allow_loss = true; /* the comparison has notes of it */
	if (is_directory(name)) {
		if (add_directory(arguments, run, name))
			argp_error(state, "%s: a directory without captures (*.ucxb)", name);
		return;
	}
	while (!is_file(name) && strchr(name, ',')) {
		const char *end = strchr(name, ',');

		if (end > name)
			add_path(arguments, run, xstrndup(name, (size_t)(end - name)));
		name = end + 1;
	}
	if (*name)
		add_path(arguments, run, xstrdup(name));
	if (!run->captures.paths.len)
		argp_error(state, "'%s' names no capture", run->name);
}

/* ---- arguments ---- */

static void begin_side(struct argp_state *state, enum diff_side side, const char *first)
{
	struct diff_arguments *arguments = state->input;

	if (!arguments->named && (arguments->sides[DIFF_BEFORE].len))
		argp_error(state, "%s: give all runs behind --before and --after, or BEFORE AFTER",
			   arguments->sides[DIFF_BEFORE].data[0].name);
	arguments->named = true;
	arguments->side = side;
	add_run(state, arguments, side, first);
}

/* Without --before and --after, the first argument is before and the second after. */
static void take_argument(struct argp_state *state, const char *name)
{
	struct diff_arguments *arguments = state->input;

	if (!arguments->named)
		arguments->side = arguments->sides[DIFF_BEFORE].len ? DIFF_AFTER : DIFF_BEFORE;
	if (!arguments->named && arguments->sides[DIFF_AFTER].len)
		argp_error(state,
			   "%s: a third run; give sets as --before RUN... --after RUN..., the "
			   "hosts of one run as FILE,FILE",
			   name);
	add_run(state, arguments, arguments->side, name);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct diff_arguments *arguments = state->input;

	switch (key) {
	case 'j':
		arguments->json = true;
		return 0;
	case 'o':
		arguments->output = arg;
		return 0;
	case 'v':
		arguments->verbose++;
		return 0;
	case KEY_HTML:
		arguments->html = true;
		return 0;
	case KEY_EXACT:
		arguments->exact = true;
		return 0;
	case KEY_BEFORE:
		begin_side(state, DIFF_BEFORE, arg);
		return 0;
	case KEY_AFTER:
		begin_side(state, DIFF_AFTER, arg);
		return 0;
	case ARGP_KEY_ARG:
		take_argument(state, arg);
		return 0;
	case ARGP_KEY_END:
		if (!arguments->sides[DIFF_BEFORE].len || !arguments->sides[DIFF_AFTER].len)
			argp_error(state, "which runs? Give BEFORE and AFTER, each a capture");
		if (arguments->json && arguments->html)
			argp_error(state, "--json, --html: ask for one of them");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const char doc[] =
	"Compares runs of a program: what differs in environment, libraries, paths, protocols, "
	"switch points, counts, bytes, times and waits. Numbers that vary by themselves differ "
	"only if they are outside their spread."
	"\v"
	"A RUN is a capture; the captures of all hosts of a job as FILE,FILE...; or a directory "
	"with these. Several runs of a side show the spread of equal runs: from five a "
	"side on, times and waits are compared by it.\n\n"
	"Examples:\n"
	"  ucxbpf diff ucx-1.18.ucxb ucx-1.19.ucxb   what has the new UCX changed?\n"
	"  ucxbpf diff -v a.ucxb b.ucxb              also numbers that vary by themselves\n"
	"  ucxbpf diff a.n0.ucxb,a.n1.ucxb b/        a job on two hosts, before and after\n"
	"  ucxbpf diff --before a?.ucxb --after b?.ucxb   five runs against five\n"
	"  ucxbpf diff --json a.ucxb b.ucxb | jq .sections   for programs (docs/diff.md)\n"
	"  ucxbpf diff --html -o diff.html a.ucxb b.ucxb     a page to pass on\n\n"
	"Exit status: 0 no difference, 1 differences, 3 no difference found in captures that are "
	"damaged or lack records, 4 usage, 5 a capture could not be read or output not written.";

static const struct argp_option options[] = {
	{ "before", KEY_BEFORE, "RUN", 0, "Arguments from here on are runs before the change", 1 },
	{ "after", KEY_AFTER, "RUN", 0, "Arguments from here on are runs after it", 1 },
	{ "json", 'j', NULL, 0, "Print JSON, schema ucxbpf.diff/1", 2 },
	{ "html", KEY_HTML, NULL, 0, "Write a page for a browser", 2 },
	{ "output", 'o', "FILE", 0, "Write to FILE", 2 },
	{ "verbose", 'v', NULL, 0, "All rows, also what varies by itself or is not compared", 2 },
	{ "exact", KEY_EXACT, NULL, 0, "Every digit instead of KiB and ms", 2 },
	{ 0 },
};

/* ---- comparing ---- */

/* Returns 0 or -errno (printed). */
static int add_captures(struct run_argument *run, struct analysis *analysis)
{
	const size_t added = captures_add(&run->captures, analysis);

	if (captures_twice(&run->captures))
		return -EINVAL;
	return added < run->captures.paths.len ? -ENODATA : 0;
}

/*
 * A name of the run for people: the first capture's, and the number of others. The caller frees it.
 */
static char *run_name(const struct run_argument *run)
{
	const size_t more = run->captures.paths.len - 1;

	if (is_directory(run->name) || !more)
		return xstrdup(run->name);
	return xasprintf("%s and %zu more", run->captures.paths.data[0], more);
}

static int read_run(struct diff *diff, enum diff_side side, struct run_argument *run)
{
	struct analysis *analysis = analysis_new();
	struct fact_totals totals = { 0 };
	struct fact_sink sink;
	int err = add_captures(run, analysis);

	if (!err) {
		char *name = run_name(run);

		sink = diff_begin(diff, side, name);
		free(name);
		err = captures_analyse(&run->captures, analysis, "diff", &sink, &totals);
	}
	if (!err) {
		diff_end(diff, &totals);
		captures_warn_of_loss(&run->captures, &totals);
	}
	analysis_free(analysis);
	return err;
}

static bool same_capture(const struct captured *a, const struct captured *b)
{
	return a->start == b->start && !strcmp(a->host_id, b->host_id) &&
	       !strcmp(a->host_name, b->host_name);
}

/* The path of a capture that is in both runs; NULL: none. */
static const char *shared_capture(const struct captures *a, const struct captures *b)
{
	for (size_t i = 0; i < a->added.len; i++)
		for (size_t j = 0; j < b->added.len; j++)
			if (same_capture(&a->added.data[i], &b->added.data[j]))
				return a->added.data[i].path;
	return NULL;
}

/* Refuses a run that is on one side twice: the side would seem to vary less than it does. */
static bool has_twins(struct diff_arguments *arguments, enum diff_side side)
{
	const struct run_argument *runs = arguments->sides[side].data;

	for (size_t i = 0; i < arguments->sides[side].len; i++)
		for (size_t j = 0; j < i; j++) {
			const char *path = shared_capture(&runs[i].captures, &runs[j].captures);

			if (!path)
				continue;
			log_error("%s is in two runs of one side: give it once", path);
			return true;
		}
	return false;
}

static int read_runs(struct diff *diff, struct diff_arguments *arguments)
{
	int err = 0;

	for (enum diff_side side = DIFF_BEFORE; side < DIFF_SIDES; side++) {
		for (size_t i = 0; i < arguments->sides[side].len && !err; i++)
			err = read_run(diff, side, &arguments->sides[side].data[i]);
		if (!err && has_twins(arguments, side))
			err = -EINVAL;
	}
	return err;
}

struct diff_printing {
	const struct diff_arguments *arguments;
	const struct diff *diff;
};

static int print_to(void *arg, FILE *out)
{
	const struct diff_arguments *arguments = ((const struct diff_printing *)arg)->arguments;
	const struct diff *diff = ((const struct diff_printing *)arg)->diff;
	struct report_text_options text = { .verbose = arguments->verbose,
					    .exact = arguments->exact };

	if (arguments->json)
		return diff_json(diff, out);
	if (arguments->html)
		return diff_html(diff, out);
	report_text_options_detect(&text, out);
	return diff_text(diff, &text, out);
}

static int print(struct diff_arguments *arguments, const struct diff *diff)
{
	struct diff_printing printing = { arguments, diff };
	int err = output_write(arguments->output, NEWFILE_PRIVATE, print_to, &printing);

	/* it is no failure if the reader of a pipe stops early */
	if (err == -EPIPE)
		return 0;
	if (err)
		log_error("%s: %s", output_name(arguments->output), newfile_why(err));
	return err;
}

static int status_of(struct diff_outcome outcome)
{
	if (outcome.differences)
		return UCXBPF_CHECK_WARNING;
	return outcome.incomplete ? UCXBPF_CHECK_UNKNOWN : UCXBPF_CHECK_PASS;
}

static int compare(struct diff_arguments *arguments)
{
	struct diff *diff = diff_new();
	struct diff_outcome outcome;
	int err = read_runs(diff, arguments), status = UCXBPF_CHECK_FAILED;

	if (err == -EINVAL)
		status = UCXBPF_CHECK_USAGE;
	if (!err) {
		outcome = diff_compare(diff);
		status = print(arguments, diff) ? UCXBPF_CHECK_FAILED : status_of(outcome);
	}
	diff_free(diff);
	return status;
}

static void release(struct diff_arguments *arguments)
{
	for (enum diff_side side = DIFF_BEFORE; side < DIFF_SIDES; side++) {
		for (size_t i = 0; i < arguments->sides[side].len; i++)
			captures_release(&arguments->sides[side].data[i].captures);
		vec_release(&arguments->sides[side]);
	}
	strings_release(&arguments->paths);
}

int cmd_diff(int argc, char **argv)
{
	const struct argp argp = { options, parse, "BEFORE AFTER\n--before RUN... --after RUN...",
				   doc,     NULL,  NULL,
				   NULL };
	struct diff_arguments arguments = { 0 };
	int status = exit_usage("diff");

	if (!xargp_parse(&argp, argc, argv, ARGP_IN_ORDER, &arguments)) {
		confine_to_files();
		if (arguments.output && captures_has(arguments.output))
			log_error("%s: is a capture, not overwritten", arguments.output);
		else
			status = compare(&arguments);
	}
	release(&arguments);
	return status;
}
