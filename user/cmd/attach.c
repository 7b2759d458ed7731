// SPDX-License-Identifier: BSD-3-Clause
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/confine.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/vec.h"
#include "cmd/cmds.h"
#include "cmd/trace/args.h"
#include "cmd/trace/chosen.h"
#include "observe/process/proc.h"
#include "observe/capture/capture.h"

/* ---- the command ---- */

struct attach {
	struct capture_arguments capture;
	struct chosen chosen;
	const char *ready; /* file to write when records begin; NULL: none */
};

enum { OPT_READY = 512 };

static const struct argp_option options[] = {
	{ "pid", 'p', "PID[,PID...]", 0,
	  "Processes to trace, with the children they start; of a launcher, those below it", 0 },
	{ "job", CHOSEN_JOB, "ID", 0, "All processes of this Slurm job on this node", 0 },
	{ "all", CHOSEN_ALL, NULL, 0, "Every process that uses UCX or MPI, now or later", 0 },
	{ "duration", 'd', "SECONDS", 0, "Stop after this time (default: Ctrl-C, or the last exit)",
	  0 },
	{ "ready", OPT_READY, "FILE", 0,
	  "Write FILE once records begin; libraries that the processes may yet load are probed "
	  "as well",
	  0 },
	{ 0 },
};

static const char doc[] =
	"Traces running processes. They are not stopped, restarted or changed: detaching leaves their "
	"text as it was.\v"
	"Examples:\n"
	"  sudo ucxbpf attach -p 4242,4243 -d 10\n"
	"  sudo ucxbpf attach -o job.ucxb --job 1234\n"
	"  sudo ucxbpf attach --all -d 60\n"
	"\n"
	"Exit status: docs/exit-codes.md.";

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct attach *attach = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &attach->capture;
		return 0;
	case OPT_READY:
		attach->ready = value;
		return 0;
	case ARGP_KEY_END:
		if (attach->ready && !attach->chosen.pids.len)
			argp_error(state, "--ready requires -p");
		break;
	}
	return chosen_parse(&attach->chosen, key, value, state);
}

/* A process that waits for us has loaded little so far: the rest comes while MPI starts. */
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

static int not_ready(const struct attach *attach, int err)
{
	if (err)
		log_error("%s: %s", attach->ready, strerror(-err));
	return err;
}

/* Before an older capture is written over: whether there is a place for the file. */
static int check_ready(const struct attach *attach)
{
	char *folder;
	int err;

	if (!attach->ready)
		return 0;
	if (!access(attach->ready, F_OK))
		return not_ready(attach, access(attach->ready, W_OK) ? -errno : 0);
	folder = xstrdup(attach->ready);
	err = access(dirname(folder), W_OK | X_OK) ? -errno : 0;
	free(folder);
	return not_ready(attach, err);
}

static int say_ready(const struct attach *attach)
{
	FILE *file = attach->ready ? fopen(attach->ready, "we") : NULL;
	int err = 0;

	if (!attach->ready)
		return 0;
	if (!file || fputs("ready\n", file) < 0)
		err = -errno;
	if (file && fclose(file) && !err)
		err = -errno;
	return not_ready(attach, err);
}

static const char *follow(struct attach *attach, struct capture_session *capture,
			  const struct signals *signals, int *err)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(attach->chosen.seconds * 1e9);
	struct signalfd_siginfo info;

	while (!*err) {
		if (signals_next(signals, &info))
			return "interrupt";
		if (!capture_alive(capture) && !attach->chosen.all)
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

	err = check_ready(attach);
	if (!err)
		err = signals_open(&signals, false);
	if (!err) {
		confine_to_tracing();
		err = capture_open(&capture, options);
	}
	if (err)
		return capture_exit_code(err);
	prepare(attach, capture);
	err = chosen_begin(&attach->chosen, capture, attach->ready);
	if (!err)
		err = say_ready(attach);
	if (err) {
		capture_abandon(capture);
		return capture_exit_code(err);
	}
	reason = follow(attach, capture, &signals, &err);
	signals_finish(!strcmp(reason, "interrupt"));
	close_err = capture_close(capture, reason);
	if (err || close_err)
		return capture_exit_code(err ? err : close_err);
	code = attach->capture.quiet ? UCXBPF_EXIT_OK : capture_summary(options->output);
	return code == UCXBPF_EXIT_OK && attach->chosen.partial ? UCXBPF_EXIT_PARTIAL : code;
}

int cmd_attach(int argc, char **argv)
{
	static const struct argp_child children[] = { { &capture_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "(-p PID[,PID...] | --job ID | --all) [-d SECONDS]",
		.doc = doc,
		.children = children,
	};
	struct attach attach = { .capture.budget_by_default = true };
	struct capture_options capture_options;
	int err, code;

	if (xargp_parse(&argp, argc, argv, 0, &attach))
		return UCXBPF_EXIT_USAGE;
	err = capture_arguments_apply(&attach.capture, "attach", &capture_options);
	if (err)
		return capture_exit_code(err);
	capture_options.all = attach.chosen.all;
	code = trace(&attach, &capture_options);
	vec_release(&attach.chosen.pids);
	capture_arguments_release(&attach.capture);
	return code;
}
