// SPDX-License-Identifier: BSD-3-Clause
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "base/signals.h"
#include "cmd/cmds.h"
#include "cmd/trace/args.h"
#include "cmd/trace/chosen.h"
#include "cmd/trace/temporary.h"
#include "show/report/report.h"

struct pending {
	struct chosen chosen;
	bool json;
	int verbose;
	const char *output; /* capture to keep; NULL: none */
};

enum { OPT_JSON = 512 };

static const struct argp_option options[] = {
	{ "pid", 'p', "PID[,PID...]", 0,
	  "Processes to look at; of a launcher (mpirun), those below it", 0 },
	{ "job", CHOSEN_JOB, "ID", 0, "All processes of this job on this node", 0 },
	{ "all", CHOSEN_ALL, NULL, 0, "Every process here that uses UCX or MPI", 0 },
	{ "duration", 'd', "TIME", 0, "Watch them for this time (default: 1s)", 0 },
	{ "json", OPT_JSON, NULL, 0, "JSON, schema ucxbpf.pending/1", 0 },
	{ "verbose", 'v', NULL, 0, "More queued operations; twice: all of them", 0 },
	{ "output", 'o', "FILE", 0, "Keep the capture, for 'ucxbpf replay'", 0 },
	{ 0 },
};

static const char doc[] =
	"Lists the MPI calls of running processes that stay open, their peers, and which rank is "
	"behind. The processes need not have been traced before, and are not stopped.\v"
	"Examples:\n"
	"  sudo ucxbpf pending -p 4242                     a job by the pid of its mpirun\n"
	"  sudo ucxbpf pending --job 1234                  the ranks of a Slurm job on this node\n"
	"  sudo ucxbpf pending --all -d 5s                 only what stays open for 5 seconds\n"
	"  sudo ucxbpf pending --all --json | jq .behind   who is behind, for programs\n"
	"\n"
	"Exit status: docs/exit-codes.md.";

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct pending *pending = state->input;

	switch (key) {
	case OPT_JSON:
		pending->json = true;
		return 0;
	case 'v':
		pending->verbose++;
		return 0;
	case 'o':
		pending->output = value;
		return 0;
	}
	return chosen_parse(&pending->chosen, key, value, state);
}

static int print_text(const struct report *report, const void *arg)
{
	const struct pending *pending = arg;
	struct report_text_options text = { .verbose = pending->verbose };

	report_text_options_detect(&text, stdout);
	return report_pending_text(report, &text, stdout);
}

static int print_json(const struct report *report, const void *arg)
{
	(void)arg;
	return report_pending_json(report, stdout);
}

static int watch(const struct pending *pending, struct capture_session *capture,
		 const struct signals *signals)
{
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(pending->chosen.seconds * 1e9);
	struct signalfd_siginfo info;
	int err = 0;

	while (!err && clock_ns(CLOCK_MONOTONIC) < end && !signals_next(signals, &info))
		err = capture_work(capture, 10);
	return err;
}

#define NICE (-20)

/*
 * Ranks that hang often poll on every CPU, and somebody waits for the answer, which takes a quarter
 * of a second of CPU time. Without CAP_SYS_NICE it takes longer.
 */
static void hurry(int nice)
{
	if (setpriority(PRIO_PROCESS, 0, nice))
		log_debug("priority: %s", strerror(errno));
}

static int look(struct pending *pending, const struct capture_options *capture_options)
{
	struct capture_session *capture;
	struct signals signals;
	int err = signals_open(&signals, false), close_err;
	const int usual = getpriority(PRIO_PROCESS, 0);

	if (!err) {
		hurry(NICE);
		capture_confine();
		err = capture_open(&capture, capture_options);
	}
	if (err)
		return err;
	err = chosen_begin(&pending->chosen, capture, false);
	if (err) {
		capture_abandon(capture);
		return err;
	}
	err = watch(pending, capture, &signals);
	signals_finish(false);
	close_err = capture_close(capture, "duration");
	hurry(usual);
	return err ? err : close_err;
}

/* Calls alone, by an entry probe each: their number is what tells that none began meanwhile. */
static int answer(struct pending *pending, const char *file)
{
	const struct capture_arguments arguments = {
		.output = file, .level = "mpi", .no_call_ends = true, .exact = true, .quiet = true
	};
	struct capture_options capture_options;
	int err = capture_arguments_apply(&arguments, "attach", &capture_options), code;

	if (err)
		return capture_exit_code(err);
	capture_options.all = pending->chosen.all;
	capture_options.passing = !pending->output;
	err = look(pending, &capture_options);
	if (err)
		return capture_exit_code(err);
	code = capture_read_back(file, pending->json ? print_json : print_text, pending);
	return code == UCXBPF_EXIT_OK && pending->chosen.partial ? UCXBPF_EXIT_PARTIAL : code;
}

/* With a capture that nobody keeps. */
static int answer_once(struct pending *pending)
{
	struct temporary temporary;
	int code;

	if (temporary_make(&temporary))
		return UCXBPF_EXIT_FAILED;
	code = answer(pending, temporary.file);
	temporary_remove(&temporary);
	return code;
}

int cmd_pending(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "PID...\n(-p PID[,PID...] | --job ID | --all)",
		.doc = doc,
	};
	struct pending pending = { .chosen.seconds = 1 };
	int code;

	if (xargp_parse(&argp, argc, argv, 0, &pending))
		return UCXBPF_EXIT_USAGE;
	code = pending.output ? answer(&pending, pending.output) : answer_once(&pending);
	vec_release(&pending.chosen.pids);
	return code;
}
