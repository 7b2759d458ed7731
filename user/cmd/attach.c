// SPDX-License-Identifier: BSD-3-Clause
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/vec.h"
#include "cmd/cmds.h"
#include "cmd/nodes/args.h"
#include "cmd/nodes/gather.h"
#include "cmd/nodes/send.h"
#include "cmd/trace/args.h"
#include "cmd/trace/chosen.h"
#include "cmd/trace/ready.h"
#include "observe/process/proc.h"
#include "observe/capture/capture.h"

/* ---- the command ---- */

struct attach {
	struct capture_arguments capture;
	struct chosen chosen;
	struct nodes_arguments nodes;
	const char *ready; /* file to write when records begin; NULL: none */
	bool sends; /* as a node of --all-nodes does (send.h) */
	struct send send;
};

enum { OPT_READY = 512, OPT_SEND };

static const struct argp_option options[] = {
	{ "pid", 'p', "PID[,PID...]", 0,
	  "Processes to trace, with the children they start; of a launcher, those below it", 0 },
	{ "job", CHOSEN_JOB, "ID", 0,
	  "All processes of this job (Slurm, PBS, LSF, Flux) on this node, or on --all-nodes", 0 },
	{ "all", CHOSEN_ALL, NULL, 0, "Every process that uses UCX or MPI, now or later", 0 },
	{ "duration", 'd', "TIME", 0,
	  "Stop after this time: 10, 500ms, 2m (default: Ctrl-C, or the last exit)", 0 },
	{ "send", OPT_SEND, NULL, OPTION_HIDDEN, "", 0 },
	{ "ready", OPT_READY, "FILE", 0,
	  "Write FILE once records begin, on all nodes; of -p, libraries that the processes may yet "
	  "load are probed as well",
	  0 },
	{ 0 },
};

static const char doc[] =
	"Traces running processes. They are not stopped, restarted or changed: detaching leaves their "
	"text as it was.\v"
	"Examples:\n"
	"  sudo ucxbpf attach 4242 -d 10s\n"
	"  sudo ucxbpf attach -o job.ucxb --job 1234\n"
	"  ucxbpf attach --job 1234 --all-nodes --ucxbpf 'sudo -n ucxbpf' -d 10s -o job\n"
	"  sudo ucxbpf attach --all -d 60\n"
	"\n"
	"Exit status: docs/exit-codes.md.";

#define refuse(state, ...) argp_failure(state, argp_err_exit_status, 0, __VA_ARGS__)

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct attach *attach = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &attach->capture;
		state->child_inputs[1] = &attach->nodes;
		return 0;
	case OPT_SEND:
		attach->sends = true;
		return 0;
	case OPT_READY:
		attach->ready = value;
		return 0;
	case ARGP_KEY_END:
		if (attach->ready && !attach->chosen.pids.len && !attach->nodes.all)
			refuse(state, "--ready requires -p or --all-nodes");
		nodes_check_pids(&attach->nodes, attach->chosen.pids.len, state);
		break;
	}
	return chosen_parse(&attach->chosen, key, value, state);
}

/*
 * A process that waits for the tracer has loaded few libraries: MPI loads the others as it starts.
 */
static void prepare(const struct attach *attach, struct capture_session *capture)
{
	for (size_t i = 0; attach->ready && i < attach->chosen.pids.len; i++) {
		long size;
		char *text = chosen_environment(attach->chosen.pids.data[i], &size);
		VEC(char *) environment = { 0 };

		for (char *word = text; word < text + size; word += strlen(word) + 1)
			vec_push(&environment, word);
		vec_push(&environment, NULL);
		capture_prepare(capture, NULL, environment.data);
		vec_release(&environment);
		free(text);
	}
}

/*
 * The shell of a job, and a command in it that waits for the tracers, end after the tracers: a node
 * traces for as long as its ranks live.
 */
static bool is_over(const struct attach *attach, const struct capture_session *capture)
{
	if (attach->chosen.all)
		return false;
	return attach->sends ? !capture_alive_with_ucx(capture) : !capture_alive(capture);
}

static const char *follow(struct attach *attach, struct capture_session *capture,
			  const struct signals *signals, int *err)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(attach->chosen.seconds * 1e9);
	struct signalfd_siginfo info;

	while (!*err) {
		if (signals_next(signals, &info))
			return "interrupt";
		if (attach->sends && send_over())
			return "interrupt";
		if (is_over(attach, capture))
			return "exit";
		if (attach->chosen.seconds && clock_ns(CLOCK_MONOTONIC) >= end)
			return "duration";
		*err = capture_work(capture, 10);
	}
	return "error";
}

static int trace(struct attach *attach, const struct capture_options *options)
{
	struct capture_session *capture;
	struct signals signals;
	int err, close_err;
	const char *reason;
	int code;

	err = ready_check(attach->ready);
	if (!err)
		err = signals_open(&signals, false);
	if (!err) {
		capture_confine();
		err = capture_open(&capture, options);
	}
	if (err)
		return capture_exit_code(err);
	prepare(attach, capture);
	err = chosen_begin(&attach->chosen, capture, attach->ready);
	if (!err)
		err = attach->sends ? send_ready(&attach->send) : ready_write(attach->ready);
	if (err) {
		capture_abandon(capture);
		return capture_exit_code(err);
	}
	reason = follow(attach, capture, &signals, &err);
	signals_finish(!strcmp(reason, "interrupt"));
	close_err = capture_close(capture, reason);
	if (!err && !close_err && attach->sends)
		err = send_capture(&attach->send);
	if (err || close_err)
		return capture_exit_code(err ? err : close_err);
	code = attach->capture.quiet ? UCXBPF_EXIT_OK : capture_summary(options->output);
	return code == UCXBPF_EXIT_OK && attach->chosen.partial ? UCXBPF_EXIT_PARTIAL : code;
}

static int trace_here(struct attach *attach)
{
	struct capture_options options;
	int err = attach->sends ? send_open(&attach->send) : 0, code;

	if (attach->sends && !err)
		attach->capture.output = attach->send.temporary.file;
	if (!err)
		err = capture_arguments_apply(&attach->capture, "attach", &options);
	options.all = attach->chosen.all;
	options.passing = attach->sends;
	code = err ? capture_exit_code(err) : trace(attach, &options);
	if (attach->sends)
		send_close(&attach->send);
	return code;
}

static int trace_everywhere(const struct attach *attach)
{
	const struct gathering gathering = {
		.arguments = &attach->nodes,
		.job = attach->chosen.job,
		.options = &attach->capture.given,
		.folder = attach->capture.unnamed ? NULL : attach->capture.output,
		.ready = attach->ready,
		.seconds = attach->chosen.seconds,
		.quiet = attach->capture.quiet,
	};

	return gather_nodes(&gathering);
}

int cmd_attach(int argc, char **argv)
{
	static const struct argp_child children[] = { { &capture_argp, 0, NULL, 0 },
						      { &nodes_argp, 0, NULL, 0 },
						      { 0 } };
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "PID... [-d TIME]\n"
			    "(-p PID[,PID...] | --job ID | --all) [-d TIME]\n"
			    "--job ID --all-nodes [-d TIME] [-o DIR]",
		.doc = doc,
		.children = children,
	};
	struct attach attach = { .capture.budget_by_default = true };
	int code;

	if (xargp_parse(&argp, argc, argv, 0, &attach))
		return UCXBPF_EXIT_USAGE;
	code = attach.nodes.all ? trace_everywhere(&attach) : trace_here(&attach);
	vec_release(&attach.chosen.pids);
	capture_arguments_release(&attach.capture);
	return code;
}
