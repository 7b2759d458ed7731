// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/trace/args.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/confine.h"
#include "base/exit_codes.h"
#include "base/level.h"
#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "base/vec.h"
#include "cmd/trace/capture_name.h"
#include "explain/analysis/analysis.h"
#include "show/report/report.h"

enum {
	OPT_LEVEL = 256,
	OPT_RING,
	OPT_LINKS,
	OPT_DEBUG,
	OPT_CALL_ENDS,
	OPT_NO_CALL_ENDS,
	OPT_WINDOW,
	OPT_BUDGET,
	OPT_COUNT,
	OPT_STACKS,
	OPT_THIN,
	OPT_EXACT,
	OPT_ARGUMENTS
};

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0,
	  "Capture file (default ucxbpf.ucxb, of a rank ucxbpf.%h.%p.ucxb); %h host, %p process, %r "
	  "rank, %j job, %s step, %t time",
	  0 },
	{ "level", OPT_LEVEL, "mpi|ucp|uct", 0,
	  "Lowest layer to probe (default uct; attach: as the budget allows)", 0 },
	{ "call-ends", OPT_CALL_ENDS, NULL, 0,
	  "Record exact ends of MPI calls, by return probes; not where MPI runs on user-level "
	  "threads (default at level mpi)",
	  0 },
	{ "no-call-ends", OPT_NO_CALL_ENDS, NULL, 0,
	  "Leave out return probes at level mpi, where they are the only times of calls", 0 },
	{ "count", OPT_COUNT, NULL, 0,
	  "Add up in the kernel instead of recording: less overhead, and a file that hardly grows",
	  0 },
	{ "ring-size", OPT_RING, "KIB", 0,
	  "Ring per CPU in KiB, a power of two (default: at most 4096, growing where it is needed)",
	  0 },
	{ "links", OPT_LINKS, "session|multi|perf", 0,
	  "Force a type of link for probes (default: the best that this kernel has)", 0 },
	{ "window", OPT_WINDOW, "LENGTH/PERIOD", 0,
	  "Trace for LENGTH, remove the probes, repeat every PERIOD: 1s/30s, 300ms/2min (us, ms, "
	  "s, min, h)",
	  0 },
	{ "budget", OPT_BUDGET, "PERCENT|none", 0,
	  "Limit the cost of recording to this share of any thread's time: 3%, 0.5% (default: "
	  "attach 3%, or UCXBPF_BUDGET; run none)",
	  0 },
	{ "stacks", OPT_STACKS, NULL, 0,
	  "Record the stack of every MPI call and of UCP operations outside of calls (x86-64)", 0 },
	{ "thin", OPT_THIN, "K/N", 0,
	  "Record detail in K of N time slices of 17 ms, and sums of everything (default: as "
	  "there is room)",
	  0 },
	{ "exact", OPT_EXACT, NULL, 0,
	  "Keep all probes (default: hot point-to-point calls and short transfers are derived from "
	  "their operations)",
	  0 },
	{ "record-arguments", OPT_ARGUMENTS, NULL, 0,
	  "Keep the arguments of command lines, which may hold secrets (default: the program's name)",
	  0 },
	{ "quiet", 'q', NULL, 0, "No progress, no report at the end", 0 },
	{ "debug", OPT_DEBUG, NULL, 0, "Print each step to stderr", 0 },
	{ 0 },
};

/* One line and the status of usage; argp_error() adds where to find help. */
#define refuse(state, ...) argp_failure(state, argp_err_exit_status, 0, __VA_ARGS__)

#define REST_NS 100000000ull /* probes take this long to go away and come back */

static void parse_window(struct capture_arguments *arguments, const char *value,
			 struct argp_state *state)
{
	const char *slash, *end;
	uint64_t *length = &arguments->window_ns, *period = &arguments->period_ns;

	if (duration_parse(value, &slash, length) || *slash != '/' ||
	    duration_parse(slash + 1, &end, period) || *end)
		refuse(state, "invalid window '%s', use LENGTH/PERIOD (1s/30s)", value);
	else if (!*length)
		refuse(state, "invalid window '%s', its length must not be 0", value);
	else if (*length + REST_NS > *period)
		refuse(state,
		       "'%s' leaves no time without probes: the period must be 100ms longer "
		       "than the window",
		       value);
}

/* N divides the number of slices in a round. */
static void parse_thin(struct capture_arguments *arguments, const char *value,
		       struct argp_state *state)
{
	unsigned int kept, of;
	char rest;

	if (strspn(value, "0123456789/") != strlen(value) ||
	    sscanf(value, "%2u/%2u%c", &kept, &of, &rest) != 2)
		refuse(state, "invalid share of detail '%s', use K/N (1/8)", value);
	else if (!of || UB_SLICES % of || !kept || kept > of)
		refuse(state, "'%s': N must be 1, 2, 4, 8, 16, 32 or 64, and K from 1 to N", value);
	else
		arguments->thin = kept * (UB_SLICES / of);
}

#define ATTACH_BUDGET "3%"

double budget_parse(const char *from, const char *value, struct argp_state *state)
{
	char *end;
	double percent = strtod(value, &end);

	if (!strcmp(value, "none"))
		return 0;
	if (end == value || (*end && strcmp(end, "%") != 0) || isnan(percent))
		refuse(state,
		       "%s: invalid share '%s', use one of each thread's time (3%%), or none", from,
		       value);
	else if (percent < 0.01 || percent > 99)
		refuse(state, "%s: '%s' is out of range, use 0.01%% to 99%%, or none", from, value);
	return percent / 100;
}

static const char *budget_default_text(void)
{
	const char *site = getenv("UCXBPF_BUDGET");

	return site && *site ? site : ATTACH_BUDGET;
}

double budget_default(struct argp_state *state)
{
	return budget_parse("UCXBPF_BUDGET", budget_default_text(), state);
}

/*
 * One option decides how much is recorded. Without one, a job that runs already gets UCXBPF_BUDGET,
 * else ATTACH_BUDGET.
 */
static void settle_budget(struct capture_arguments *arguments, struct argp_state *state)
{
	const char *other = arguments->level       ? "--level"
			    : arguments->window_ns ? "--window"
			    : arguments->count     ? "--count"
						   : NULL;

	if (arguments->budget > 0 && other)
		refuse(state, "%s and --budget cannot be combined", other);
	if (!arguments->budget_by_default || arguments->budget_text || other)
		return;
	arguments->budget = budget_default(state);
	command_add(&arguments->given, "--budget=%s", budget_default_text());
}

#ifdef __x86_64__
#define STACKS_SUPPORTED 1
#else
#define STACKS_SUPPORTED 0
#endif

static const char *const mechanisms[] = { "none", "perf", "multi", "session" };

static int index_of(const char *word, const char *const *words, int count)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(word, words[i]))
			return i;
	return -EINVAL;
}

static bool is_ring_size(long kib)
{
	return kib >= 64 && kib <= 1 << 20 && !(kib & (kib - 1));
}

/* Options that exclude each other. */
static void check_options(const struct capture_arguments *arguments, struct argp_state *state)
{
	const struct {
		bool given;
		const char *options;
	} conflicts[] = {
		{ arguments->count && arguments->call_ends, "--count and --call-ends" },
		{ arguments->call_ends && arguments->no_call_ends,
		  "--call-ends and --no-call-ends" },
		{ arguments->count && arguments->stacks, "--count and --stacks" },
		{ arguments->count && arguments->thin, "--count and --thin" },
		{ arguments->count && arguments->window_ns, "--count and --window" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(conflicts); i++)
		if (conflicts[i].given)
			refuse(state, "%s cannot be combined", conflicts[i].options);
}

/* The options of the capture itself, to start the same trace on other nodes. */
static void remember(struct capture_arguments *arguments, int key, const char *value)
{
	if (key == 'o' || key == 'q')
		return;
	for (const struct argp_option *option = options; option->name; option++)
		if (option->key == key)
			command_add(&arguments->given, "--%s%s%s", option->name, value ? "=" : "",
				    value ? value : "");
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct capture_arguments *arguments = state->input;
	char *end;

	remember(arguments, key, value);

	switch (key) {
	case 'o':
		free(arguments->named);
		arguments->output = arguments->named = capture_name(value);
		if (!arguments->named)
			refuse(state, "unknown placeholder in '%s', use %s", value,
			       CAPTURE_NAME_PLACEHOLDERS);
		return 0;
	case OPT_LEVEL:
		arguments->level = value;
		if (level_by_name(value) < 0)
			refuse(state, "unknown level '%s', use mpi, ucp or uct", value);
		return 0;
	case OPT_COUNT:
		arguments->count = true;
		return 0;
	case OPT_RING:
		arguments->ring_kib = strtol(value, &end, 10);
		if (*end || end == value || arguments->ring_kib <= 0)
			refuse(state, "'%s' is not a size in KiB", value);
		else if (!is_ring_size(arguments->ring_kib))
			refuse(state, "ring size must be a power of two from 64 to 1048576 KiB");
		return 0;
	case OPT_LINKS:
		arguments->links = value;
		if (index_of(value, mechanisms, 4) <= LINK_NONE)
			refuse(state, "unknown kind of links '%s', use session, multi or perf",
			       value);
		return 0;
	case OPT_WINDOW:
		parse_window(arguments, value, state);
		return 0;
	case OPT_THIN:
		parse_thin(arguments, value, state);
		return 0;
	case OPT_BUDGET:
		arguments->budget_text = value;
		arguments->budget = budget_parse("--budget", value, state);
		return 0;
	case ARGP_KEY_END:
		arguments->unnamed = !arguments->output;
		if (arguments->unnamed)
			arguments->output = arguments->named = capture_name(capture_name_default());
		check_options(arguments, state);
		settle_budget(arguments, state);
		return 0;
	case OPT_STACKS:
		arguments->stacks = true;
		return 0;
	case 'q':
		arguments->quiet = true;
		return 0;
	case OPT_CALL_ENDS:
		arguments->call_ends = true;
		return 0;
	case OPT_NO_CALL_ENDS:
		arguments->no_call_ends = true;
		return 0;
	case OPT_EXACT:
		arguments->exact = true;
		return 0;
	case OPT_ARGUMENTS:
		arguments->record_arguments = true;
		return 0;
	case OPT_DEBUG:
		arguments->debug = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp capture_argp = { .options = options, .parser = parse };

void capture_arguments_release(struct capture_arguments *arguments)
{
	free(arguments->named);
	command_release(&arguments->given);
}

static bool is_permission(int err)
{
	return err == -EPERM || err == -EACCES;
}

/* Probes must come and go, calls have operations to be derived from, and nothing needs their entry.
 */
static bool may_derive(const struct capture_options *options)
{
	return STACKS_SUPPORTED && options->mechanism != LINK_PERF && options->level >= LEVEL_UCP &&
	       !options->call_ends && !options->stacks && !options->window_ns;
}

int capture_arguments_apply(const struct capture_arguments *arguments, const char *mode,
			    struct capture_options *out)
{
	enum link_mechanism best = LINK_NONE;
	long kib = arguments->ring_kib; /* 0: planned */
	int level = arguments->level ? level_by_name(arguments->level) : LEVEL_UCT;
	int mechanism = arguments->links ? index_of(arguments->links, mechanisms, 4) : LINK_NONE;
	int err = links_detect(&best);

	if (err) {
		if (is_permission(err))
			log_error("no permission to place probes; run this on the host, not in a "
				  "container, as root or with CAP_BPF, CAP_PERFMON and "
				  "CAP_SYS_PTRACE");
		else
			log_error("this kernel places no uprobes: %s; see 'ucxbpf doctor'",
				  strerror(-err));
		return is_permission(err) ? err : -ENOSYS;
	}
	if (arguments->window_ns &&
	    (mechanism == LINK_NONE ? best : (enum link_mechanism)mechanism) == LINK_PERF) {
		log_error("--window needs session or multi links, of Linux 6.6 and later: taking "
			  "away perf probes takes 0.1 s each");
		return -EINVAL;
	}
	if (arguments->stacks && !STACKS_SUPPORTED) {
		log_error("--stacks needs x86-64: other machines have call sites only");
		return -EOPNOTSUPP;
	}
	if (arguments->debug)
		log_set_level(LOG_DEBUG);
	*out = (struct capture_options){
		.output = arguments->output,
		.mode = mode,
		.level = level,
		.call_ends = arguments->call_ends ||
			     (level == LEVEL_MPI && !arguments->count && !arguments->no_call_ends),
		.count = arguments->count,
		.ring_bytes = (size_t)kib << 10,
		.stacks = arguments->stacks,
		.thin = arguments->thin,
		.budget = arguments->budget,
		.arguments = arguments->record_arguments,
		.mechanism = mechanism == LINK_NONE ? best : (enum link_mechanism)mechanism,
		.window_ns = arguments->window_ns,
		.period_ns = arguments->period_ns,
		.progress = !arguments->quiet && isatty(STDERR_FILENO),
	};
	out->derive = !arguments->exact && may_derive(out);
	return 0;
}

int capture_exit_code(int err)
{
	switch (-err) {
	case 0:
		return UCXBPF_EXIT_OK;
	case EINVAL:
		return UCXBPF_EXIT_USAGE;
	case EPERM:
	case EACCES:
		return UCXBPF_EXIT_PERMISSION;
	case ESRCH:
		return UCXBPF_EXIT_NO_TARGET;
	case EOPNOTSUPP:
		return UCXBPF_EXIT_UNSUPPORTED;
	case ENOSYS:
		return UCXBPF_EXIT_KERNEL;
	}
	return exit_unwritten("run", err);
}

static int print_text(const struct report *report, const void *arg)
{
	struct report_text_options options = { 0 };

	(void)arg;
	report_text_options_detect(&options, stdout);
	return report_text(report, &options, stdout);
}

/*
 * To standard output, whose errors are cleared here: only this flush knows their cause. A reader
 * that stops early is no failure.
 */
static int print_report(const struct report *report, capture_print *print, const void *arg)
{
	int err = print(report, arg);

	if (!err && fflush(stdout))
		err = -errno;
	clearerr(stdout);
	if (!err || err == -EPIPE)
		return UCXBPF_EXIT_OK;
	log_error("standard output: %s", strerror(-err));
	return exit_unwritten("run", err);
}

static int read_back(const char *path, capture_print *print, const void *arg)
{
	struct analysis *analysis = analysis_new();
	struct report *report = report_new(NULL);
	struct fact_totals totals = { 0 };
	struct fact_sink sink;
	const char *why = "";
	int code, err;

	alloc_json();
	err = analysis_add_file(analysis, path, &why);
	if (!err) {
		sink = report_sink(report);
		err = analysis_run(analysis, &sink, &totals);
	}
	if (err) {
		log_error("cannot read '%s' back: %s", path, *why ? why : strerror(-err));
		code = UCXBPF_EXIT_FAILED;
	} else {
		report_finish(report, &totals);
		code = print_report(report, print, arg);
	}
	report_free(report);
	analysis_free(analysis);
	return code;
}

/* Much of a capture is what others wrote. */
int capture_read_back(const char *path, capture_print *print, const void *arg)
{
	const struct sigaction waits = { .sa_handler = SIG_DFL };
	int status;
	pid_t pid;

	/* a parent that ignored it would have its children forgotten */
	sigaction(SIGCHLD, &waits, NULL);
	fflush(NULL);
	pid = fork();
	if (pid <= 0) {
		confine_to_files();
		if (!pid)
			prctl(PR_SET_PDEATHSIG, SIGKILL);
		status = read_back(path, print, arg);
		fflush(NULL);
		if (!pid)
			_exit(status);
		return status;
	}
	if (waitpid(pid, &status, 0) == pid && WIFEXITED(status))
		return WEXITSTATUS(status);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE)
		return UCXBPF_EXIT_OK;
	log_error("the report of '%s' did not finish; to repeat it: ucxbpf replay %s", path, path);
	return UCXBPF_EXIT_FAILED;
}

int capture_summary(const char *path)
{
	int code = capture_read_back(path, print_text, NULL);
	char *plain = text_plain(path);

	fprintf(stderr, "\ncapture in %s; the same again: ucxbpf replay %s\n", plain, plain);
	free(plain);
	return code;
}
