// SPDX-License-Identifier: BSD-3-Clause
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/confine.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/units.h"
#include "cmd/cmds.h"
#include "cmd/top/reader.h"
#include "cmd/trace/args.h"
#include "cmd/trace/capture_name.h"
#include "cmd/trace/chosen.h"
#include "cmd/trace/temporary.h"
#include "observe/process/reader.h"

#define SECOND 1000000000ull
#define INTERVAL_LEAST (SECOND / 10)
#define INTERVAL_MOST (3600 * SECOND)

struct top {
	struct chosen chosen;
	uint64_t interval; /* ns */
	double budget; /* a share; 0: none, negative: not given */
	bool once, json;
	struct top_reader reader;
	struct capture_session *writing; /* `w`: a capture beside the view; NULL: none */
	char *written; /* where to */
	uint64_t write_until; /* ns, CLOCK_MONOTONIC */
	char note[160];
	int warnings; /* standard error, while a screen is there; -1: it is itself */
	struct capture_interval before; /* the last one that the reader got */
};

enum { OPT_INTERVAL = 512, OPT_BUDGET, OPT_ONCE, OPT_JSON };

static const struct argp_option options[] = {
	{ "pid", 'p', "PID[,PID...]", 0,
	  "Processes to watch, with the children they start; of a launcher, those below it", 0 },
	{ "job", CHOSEN_JOB, "ID", 0, "All processes of this Slurm job on this node", 0 },
	{ "all", CHOSEN_ALL, NULL, 0, "Every process that uses UCX or MPI, now or later", 0 },
	{ "interval", OPT_INTERVAL, "TIME", 0,
	  "Time between two readings: 500ms, 2s, 1min (default: 1s)", 0 },
	{ "duration", 'd', "SECONDS", 0, "Stop after this time (default: q, or the last exit)", 0 },
	{ "budget", OPT_BUDGET, "PERCENT|none", 0,
	  "Limit the cost of counting to this share of any thread's time: 3%, 0.5% (default: 3%, or "
	  "UCXBPF_BUDGET)",
	  0 },
	{ "once", OPT_ONCE, NULL, 0, "One interval, then end; with --json", 0 },
	{ "json", OPT_JSON, NULL, 0,
	  "One JSON object per interval, schema "
	  "ucxbpf.top/1",
	  0 },
	{ 0 },
};

static const char doc[] =
	"Shows what running processes send and receive now, over which transports and devices, and "
	"in which calls they wait. Nothing is recorded.\v"
	"Examples:\n"
	"  sudo ucxbpf top -p 4242                          a job by the pid of its mpirun\n"
	"  sudo ucxbpf top --all --interval 5s              all jobs of this node\n"
	"  sudo ucxbpf top --once --json --job 1234 | jq .paths\n"
	"\n"
	"Exit status: docs/exit-codes.md.";

static void parse_interval(struct top *top, const char *value, struct argp_state *state)
{
	const char *end;

	if (duration_parse(value, &end, &top->interval) || *end)
		argp_failure(state, argp_err_exit_status, 0,
			     "invalid interval '%s', use a time with its unit (500ms, 2s)", value);
	else if (top->interval < INTERVAL_LEAST || top->interval > INTERVAL_MOST)
		argp_failure(state, argp_err_exit_status, 0,
			     "interval '%s' is out of range, use 100ms to 1h", value);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct top *top = state->input;

	switch (key) {
	case OPT_INTERVAL:
		parse_interval(top, value, state);
		return 0;
	case OPT_BUDGET:
		top->budget = budget_parse("--budget", value, state);
		return 0;
	case ARGP_KEY_END:
		if (top->once && !top->json)
			argp_failure(state, argp_err_exit_status, 0,
				     "--once needs --json: a screen shows one interval after the "
				     "other");
		if (!top->json && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
			argp_failure(state, argp_err_exit_status, 0,
				     "standard input and output are no terminal: use --json");
		if (top->budget < 0)
			top->budget = budget_default(state);
		break;
	case OPT_ONCE:
		top->once = true;
		return 0;
	case OPT_JSON:
		top->json = true;
		return 0;
	}
	return chosen_parse(&top->chosen, key, value, state);
}

/* ---- tracing ---- */

static struct live_tracer tracer_of(const struct top *top, const struct capture_interval *now)
{
	const struct capture_interval *before = &top->before;
	const double ns = now->to > now->from ? (double)(now->to - now->from) : NAN;

	return (struct live_tracer){
		.from = now->from,
		.to = now->to,
		.real = now->real,
		.watched = now->watched,
		.away = now->away,
		.budget = top->budget,
		.paid = now->paid / ns,
		.cpu = before->to ? (now->cpu_ns - before->cpu_ns) / ns : NAN,
		.memory = now->memory,
		.hits = now->hits - before->hits,
		.trap_ns = now->trap_ns,
		.program_ns =
			now->kernel_known && now->hits ? (double)now->kernel_ns / now->hits : NAN,
		.lost = now->lost,
	};
}

/* ---- a capture beside the view ---- */

#define WRITE_NS (10 * SECOND)

static void note(struct top *top, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void note(struct top *top, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(top->note, sizeof(top->note), format, args);
	va_end(args);
}

/* The view stands still until its probes are placed. */
static void write_begin(struct top *top)
{
	struct capture_arguments arguments = { .quiet = true, .budget = top->budget };
	struct capture_options options;
	int err;

	if (top->writing)
		return;
	free(top->written);
	top->written = capture_name("top.%h.%t.ucxb");
	arguments.output = top->written;
	err = capture_arguments_apply(&arguments, "attach", &options);
	options.all = top->chosen.all;
	if (!err)
		err = capture_open(&top->writing, &options);
	if (!err) {
		err = chosen_begin(&top->chosen, top->writing, false);
		if (err)
			capture_abandon(top->writing);
	}
	if (err) {
		top->writing = NULL;
		note(top, "cannot write a capture: %s", strerror(-err));
		return;
	}
	top->write_until = clock_ns(CLOCK_MONOTONIC) + WRITE_NS;
	note(top, "writing 10 s to %s", top->written);
}

static void write_end(struct top *top)
{
	if (!top->writing)
		return;
	if (capture_close(top->writing, "duration"))
		note(top, "%s is not whole", top->written);
	else
		note(top, "%s is written", top->written);
	top->writing = NULL;
}

static void write_step(struct top *top)
{
	if (!top->writing)
		return;
	if (capture_work(top->writing, 10) || clock_ns(CLOCK_MONOTONIC) >= top->write_until)
		write_end(top);
}

static int take(struct top *top, struct capture_session *capture, const char *path, bool last)
{
	struct capture_interval now;
	struct reader_message message = { .last = last };
	int err = capture_take(capture, path, &now);

	if (err)
		return err;
	message.tracer = tracer_of(top, &now);
	memcpy(message.note, top->note, sizeof(message.note));
	top->before = now;
	/* if the reader has ended, reader_ask() reports it */
	reader_tell(&top->reader, &message);
	return 0;
}

/* A reader whose output nobody takes, as that of a pager, has so long for an interval at the end.
 */
#define END_NS 2000000000ull

static bool overdue(uint64_t asked)
{
	return clock_ns(CLOCK_MONOTONIC) - asked > END_NS;
}

/* Until the end; the last interval is marked as such. */
static int follow(struct top *top, struct capture_session *capture, const char *path,
		  const struct signals *signals)
{
	const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	const uint64_t end = top->once             ? begin + top->interval
			     : top->chosen.seconds ? begin + (uint64_t)(top->chosen.seconds * 1e9)
						   : UINT64_MAX;
	uint64_t next = begin + top->interval, asked = 0;
	struct signalfd_siginfo info;
	bool reading = false, last = false;
	int err = 0;

	while (!err && !(last && !reading) && !(asked && overdue(asked))) {
		const uint64_t now = clock_ns(CLOCK_MONOTONIC);
		const int said = reader_ask(&top->reader);

		if (said == READER_QUIT)
			break;
		if (said == READER_DONE)
			reading = false;
		if (said == READER_WRITE)
			write_begin(top);
		if (!asked && (now >= end || signals_next(signals, &info) ||
			       (!capture_alive(capture) && !top->chosen.all)))
			asked = now;
		if (!last && !reading) {
			last = asked;
			if (last || now >= next) {
				err = take(top, capture, path, last);
				reading = true;
				next += (now - next) / top->interval * top->interval +
					top->interval;
			}
		}
		if (!err)
			err = capture_work(capture, 10);
		write_step(top);
	}
	write_end(top);
	return err;
}

static int watch(struct top *top, const struct capture_options *capture_options,
		 const char *interval)
{
	struct capture_session *capture;
	struct signals signals;
	int err = signals_open(&signals, false);

	if (!err) {
		readers_start();
		confine_to_tracing();
		err = capture_open(&capture, capture_options);
	}
	if (err)
		return err;
	err = chosen_begin(&top->chosen, capture, false);
	if (!err)
		err = follow(top, capture, interval, &signals);
	signals_finish(false);
	capture_abandon(capture);
	return err;
}

/* Warnings would be drawn over by the screen: they wait in a file until it is gone. */
static void screen_aside(struct top *top)
{
	int fd = top->json ? -1 : memfd_create("ucxbpf warnings", MFD_CLOEXEC);

	top->warnings = -1;
	if (fd < 0)
		return;
	fflush(stderr);
	top->warnings = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	dup2(fd, STDERR_FILENO);
	close(fd);
	signal(SIGTSTP, SIG_IGN);
}

static void screen_back(struct top *top)
{
	char text[4096];
	ssize_t got;

	if (top->warnings < 0)
		return;
	fflush(stderr);
	lseek(STDERR_FILENO, 0, SEEK_SET);
	while ((got = read(STDERR_FILENO, text, sizeof(text))) > 0)
		if (write(top->warnings, text, got) != got)
			break;
	dup2(top->warnings, STDERR_FILENO);
	close(top->warnings);
}

static int run(struct top *top, const struct reader_options *reader)
{
	const struct capture_arguments arguments = {
		.output = reader->capture, .count = true, .quiet = true, .budget = top->budget
	};
	struct capture_options capture_options;
	int err = capture_arguments_apply(&arguments, "attach", &capture_options), status;

	if (err)
		return capture_exit_code(err);
	capture_options.all = top->chosen.all;
	capture_options.live = true;
	err = reader_start(&top->reader, reader);
	if (err)
		return UCXBPF_EXIT_FAILED;
	screen_aside(top);
	err = watch(top, &capture_options, reader->interval);
	status = reader_end(&top->reader);
	screen_back(top);
	if (err)
		return capture_exit_code(err);
	return status == UCXBPF_EXIT_OK && top->chosen.partial ? UCXBPF_EXIT_PARTIAL : status;
}

/* In a folder of its own, which goes with it. */
static int run_in_folder(struct top *top)
{
	struct reader_options reader = { .json = top->json };
	char *folder, *capture, *interval;
	int code, err;

	folder = temporary_folder("ucxbpf-top", &err);
	if (!folder)
		return UCXBPF_EXIT_FAILED;
	reader.folder = folder;
	reader.capture = capture = xasprintf("%s/objects.ucxb", folder);
	reader.interval = interval = xasprintf("%s/interval.ucxb", folder);
	code = run(top, &reader);
	reader_clean(&reader);
	free(capture);
	free(interval);
	free(folder);
	return code;
}

int cmd_top(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "(-p PID[,PID...] | --job ID | --all)",
		.doc = doc,
	};
	struct top top = { .interval = SECOND, .budget = -1 };
	int code;

	if (xargp_parse(&argp, argc, argv, 0, &top))
		return UCXBPF_EXIT_USAGE;
	code = run_in_folder(&top);
	vec_release(&top.chosen.pids);
	free(top.written);
	return code;
}
