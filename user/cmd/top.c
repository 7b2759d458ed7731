// SPDX-License-Identifier: BSD-3-Clause
#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/confine.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/units.h"
#include "cmd/cmds.h"
#include "cmd/live/tracer.h"
#include "cmd/nodes/args.h"
#include "cmd/top/aside.h"
#include "cmd/top/nodes.h"
#include "cmd/top/show.h"
#include "cmd/trace/args.h"
#include "cmd/trace/capture_name.h"
#include "cmd/trace/chosen.h"

#define SECOND 1000000000ull
#define INTERVAL_LEAST (SECOND / 10)
#define INTERVAL_MOST (3600 * SECOND)

struct top {
	struct chosen chosen;
	uint64_t interval; /* ns */
	double budget; /* a share; 0: none, negative: not given */
	bool once, json;
	bool sends; /* as a node of --all-nodes does (cmd/nodes/send.h) */
	struct nodes_arguments nodes;
	struct capture_session *writing; /* `w`: a capture beside the view; NULL: none */
	char *written; /* where to */
	uint64_t write_until; /* ns, CLOCK_MONOTONIC */
	char note[160];
	struct aside aside;
};

enum { OPT_INTERVAL = 512, OPT_BUDGET, OPT_ONCE, OPT_JSON, OPT_SEND };

static const struct argp_option options[] = {
	{ "pid", 'p', "PID[,PID...]", 0,
	  "Processes to watch, with the children they start; of a launcher, those below it", 0 },
	{ "job", CHOSEN_JOB, "ID", 0,
	  "All processes of this job (Slurm, PBS, LSF, Flux) on this node, or on --all-nodes", 0 },
	{ "all", CHOSEN_ALL, NULL, 0, "Every process that uses UCX or MPI, now or later", 0 },
	{ "interval", OPT_INTERVAL, "TIME", 0,
	  "Time between two readings: 500ms, 2s, 1min (default: 1s)", 0 },
	{ "duration", 'd', "TIME", 0, "Stop after this time (default: q, or the last exit)", 0 },
	{ "budget", OPT_BUDGET, "PERCENT|none", 0,
	  "Limit the cost of counting to this share of any thread's time: 3%, 0.5% (default: 3%, or "
	  "UCXBPF_BUDGET)",
	  0 },
	{ "once", OPT_ONCE, NULL, 0, "One interval, then end; with --json", 0 },
	{ "json", OPT_JSON, NULL, 0,
	  "One JSON object per interval, schema "
	  "ucxbpf.top/1",
	  0 },
	{ "send", OPT_SEND, NULL, OPTION_HIDDEN, "", 0 },
	{ 0 },
};

static const char doc[] =
	"Shows what running processes send and receive now, over which transports and devices, and "
	"in which calls they wait. Nothing is recorded.\v"
	"Examples:\n"
	"  sudo ucxbpf top -p 4242                          a job by the pid of its mpirun\n"
	"  sudo ucxbpf top --all --interval 5s              all jobs of this node\n"
	"  sudo ucxbpf top --once --json --job 1234 | jq .paths\n"
	"  ucxbpf top --job 1234 --all-nodes --ucxbpf 'sudo -n ucxbpf'\n"
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
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &top->nodes;
		return 0;
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
		nodes_check_pids(&top->nodes, top->chosen.pids.len, state);
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
	case OPT_SEND:
		top->sends = true;
		return 0;
	}
	return chosen_parse(&top->chosen, key, value, state);
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

/* While probes are placed, the view does not change. */
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

static void on_said(void *arg, int byte)
{
	if (byte == READER_WRITE)
		write_begin(arg);
}

static void on_step(void *arg)
{
	write_step(arg);
}

static void on_end(void *arg)
{
	write_end(arg);
}

static void around(void *arg, bool before)
{
	struct top *top = arg;

	if (top->json)
		return;
	if (before)
		aside_begin(&top->aside);
	else
		aside_end(&top->aside);
}

static int run(struct top *top)
{
	struct reader_options reader = { .terminal = !top->json,
					 .show = show_top,
					 .arg = &top->json };
	struct tracer tracer = {
		.chosen = &top->chosen,
		.interval = top->interval,
		.budget = top->budget,
		.once = top->once,
		.sends = top->sends,
		.note = top->note,
		.said = on_said,
		.step = on_step,
		.end = on_end,
		.arg = top,
	};
	int code = UCXBPF_EXIT_FAILED;

	if (reader_prepare(&reader, "ucxbpf-top"))
		return code;
	code = tracer_run(&tracer, &reader, around);
	reader_clean(&reader);
	reader_release(&reader);
	return code;
}

static int run_everywhere(const struct top *top)
{
	struct command options = { 0 };
	char budget[32];
	const struct nodes_top nodes = {
		.arguments = &top->nodes,
		.job = top->chosen.job,
		.options = &options,
		.interval = top->interval,
		.budget = budget,
		.json = top->json,
	};
	int code;

	snprintf(budget, sizeof(budget), top->budget > 0 ? "--budget=%g%%" : "--budget=none",
		 top->budget * 100);
	command_add(&options, "%s", budget);
	command_add(&options, "--interval=%.6fms", (double)top->interval / 1e6);
	if (top->chosen.seconds)
		command_add(&options, "--duration=%.6fs", top->chosen.seconds);
	if (top->once)
		command_add(&options, "--once");
	code = top_everywhere(&nodes);
	command_release(&options);
	return code;
}

int cmd_top(int argc, char **argv)
{
	static const struct argp_child children[] = { { &nodes_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "(-p PID[,PID...] | --job ID | --all)\n"
			    "--job ID --all-nodes",
		.doc = doc,
		.children = children,
	};
	struct top top = { .interval = SECOND, .budget = -1, .aside = ASIDE_NONE };
	int code;

	if (xargp_parse(&argp, argc, argv, 0, &top))
		return UCXBPF_EXIT_USAGE;
	code = top.nodes.all ? run_everywhere(&top) : run(&top);
	vec_release(&top.chosen.pids);
	free(top.written);
	return code;
}
