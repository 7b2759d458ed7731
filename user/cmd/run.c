// SPDX-License-Identifier: BSD-3-Clause
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "base/signals.h"
#include "cmd/cmds.h"
#include "cmd/trace/args.h"

struct run_command {
	struct capture_arguments capture;
	const char *libraries;
	bool strict;
	char **command;
};

enum { OPT_STRICT = 512 };

static const struct argp_option run_options[] = {
	{ "strict", OPT_STRICT, NULL, 0,
	  "Do not run COMMAND where the capture file cannot be created, and end with 8 where "
	  "nothing was traced",
	  0 },
	{ "libraries", 'L', "DIR[:DIR...]", 0,
	  "Also look there for UCX and MPI to probe ahead of time: /opt/ucx/lib, or a container's",
	  0 },
	{ 0 },
};

static const char doc[] =
	"Starts COMMAND and traces it and every process below it, from their first instruction.\v"
	"Examples:\n"
	"  sudo ucxbpf run -- mpirun -n 2 ./app\n"
	"  sudo ucxbpf run -o app.ucxb --level ucp -- mpirun -n 64 ./app\n"
	"  srun -n 64 sudo -E ucxbpf run -q -o job.%h.%p.ucxb -- ./app\n"
	"\n"
	"The report is printed when COMMAND has ended; 'ucxbpf replay FILE' prints it again, anywhere.\n"
	"Exit status: that of COMMAND (128 + signal if one ended it), else as in docs/exit-codes.md.";

/* Commands whose processes are started by daemons of the batch system, not below the command. */
static const struct {
	const char *name;
	bool submits; /* a script; otherwise it starts the ranks of a program */
} launchers[] = {
	{ "srun", false },  { "prun", false }, { "aprun", false }, { "jsrun", false },
	{ "sbatch", true }, { "qsub", true },  { "bsub", true },
};

static void refuse_launcher(const char *command, struct argp_state *state)
{
	const char *name = basename(command);

	for (size_t i = 0; i < ARRAY_SIZE(launchers); i++) {
		if (strcmp(name, launchers[i].name) != 0)
			continue;
		if (launchers[i].submits)
			argp_failure(state, argp_err_exit_status, 0,
				     "the processes of %s do not run below it: type 'ucxbpf run' "
				     "in the script",
				     name);
		else
			argp_failure(state, argp_err_exit_status, 0,
				     "the ranks of %s do not run below it: type %s ... ucxbpf run "
				     "-o job.%%h.%%p.ucxb -- PROGRAM, or ucxbpf attach --job ID",
				     name, name);
	}
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct run_command *run = state->input;

	switch (key) {
	case 'L':
		run->libraries = value;
		return 0;
	case OPT_STRICT:
		run->strict = true;
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &run->capture;
		return 0;
	case ARGP_KEY_ARGS:
		run->command = state->argv + state->next;
		refuse_launcher(run->command[0], state);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no command to run");
		return EINVAL;
	}
	return ARGP_ERR_UNKNOWN;
}

/*
 * The child waits for a byte on the pipe, so that it is traced before it becomes the command. It
 * comes first: the command has all that this process gives up.
 */
static pid_t start(char **command, const struct signals *signals, int *go)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid < 0) {
		int err = -errno;

		close(ends[0]);
		close(ends[1]);
		return err;
	}
	if (!pid) {
		char byte;
		int code;

		close(ends[1]);
		if (read(ends[0], &byte, 1) != 1)
			_exit(UCXBPF_EXIT_FAILED);
		/* a signal that came meanwhile ends the command, not the wait for it */
		signals_restore(signals);
		execvp(command[0], command);
		code = errno == ENOENT ? 127 : 126;
		log_error("cannot run '%s': %s", command[0], strerror(errno));
		_exit(code);
	}
	close(ends[0]);
	*go = ends[1];
	return pid;
}

/* Nothing was traced: the child ends without a byte to read. */
static void forget(pid_t pid, int go)
{
	close(go);
	waitpid(pid, NULL, 0);
}

static int not_begun(const struct run_command *run, int err)
{
	log_error("cannot start '%s': %s", run->command[0], strerror(-err));
	return capture_exit_code(err);
}

/* A terminal's Ctrl-C reaches the command directly; a signal sent to this process is passed on. */
static void pass_on(const struct signals *signals, pid_t pid, bool *asked)
{
	struct signalfd_siginfo info;
	int signal = signals_next(signals, &info);

	if (!signal)
		return;
	*asked = true;
	if (signal != SIGINT || info.ssi_pid)
		kill(pid, signal);
}

/*
 * Waits until the command has ended. After a write error, or without a capture (NULL), the command
 * goes on without probes.
 */
static int follow(struct capture_session *capture, const struct signals *signals, pid_t pid,
		  int *status)
{
	bool asked = false;
	int err = 0;
	pid_t got;

	while ((got = waitpid(pid, status, WNOHANG)) == 0) {
		pass_on(signals, pid, &asked);
		if (capture && !err)
			err = capture_work(capture, 10);
		else
			usleep(10000);
	}
	if (got < 0)
		*status = UCXBPF_EXIT_FAILED << 8;
	signals_finish(asked);
	return err;
}

static int exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The command could not be found or executed (printed). */
static bool not_started(int code)
{
	return code == 126 || code == 127;
}

/* An exit status: the command's own, where it failed, counts more. */
static int report(const struct run_command *run, const struct capture_options *options,
		  bool has_records)
{
	if (has_records)
		return run->capture.quiet ? UCXBPF_EXIT_OK : capture_summary(options->output);
	log_warn(
		"nothing was traced: no process below '%s' called UCX or MPI; where a daemon "
		"starts the ranks, type LAUNCHER ... ucxbpf run -o job.%%h.%%p.ucxb -- PROGRAM, or "
		"ucxbpf attach --job ID on their nodes",
		run->command[0]);
	return run->strict ? UCXBPF_EXIT_UNSUPPORTED : UCXBPF_EXIT_OK;
}

static void let_go(const struct run_command *run, int go)
{
	if (write(go, "", 1) != 1)
		log_warn("cannot start '%s': %s", run->command[0], strerror(errno));
	close(go);
}

/* Without a capture the job goes on: it must neither fail nor leave its other ranks hanging. */
static int untraced(const struct run_command *run, const struct signals *signals, pid_t pid, int go)
{
	int status = 0;

	log_warn("'%s' runs untraced (--strict: not at all)", run->command[0]);
	let_go(run, go);
	follow(NULL, signals, pid, &status);
	return exit_status(status);
}

static int trace(const struct run_command *run, struct capture_options *options,
		 const struct signals *signals)
{
	bool unwritable = false;
	struct capture_session *capture;
	int err, close_err, code, go = -1, status = 0;
	bool has_records;
	pid_t pid;

	pid = start(run->command, signals, &go);
	if (pid < 0)
		return not_begun(run, pid);
	capture_confine();
	options->unwritable = &unwritable;
	err = capture_open(&capture, options);
	if (err && unwritable && !run->strict)
		return untraced(run, signals, pid, go);
	if (err) {
		forget(pid, go);
		return capture_exit_code(err);
	}
	capture_prepare(capture, run->command, environ);
	err = capture_add_started(capture, pid);
	if (err) {
		forget(pid, go);
		capture_abandon(capture);
		return not_begun(run, err);
	}
	let_go(run, go);
	err = follow(capture, signals, pid, &status);
	has_records = capture_has_records(capture);
	if (!err && !has_records && not_started(exit_status(status))) {
		capture_abandon(capture);
		return exit_status(status);
	}
	close_err = capture_close(capture, err ? "error" : "exit");
	if (err || close_err)
		return capture_exit_code(err ? err : close_err);
	code = report(run, options, has_records);
	return exit_status(status) ? exit_status(status) : code;
}

int cmd_run(int argc, char **argv)
{
	static const struct argp_child children[] = { { &capture_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = run_options,
		.parser = parse,
		.args_doc = "[--] COMMAND [ARG...]",
		.doc = doc,
		.children = children,
	};
	struct capture_options options;
	struct signals signals;
	struct run_command run = { 0 };
	int err, code;

	if (xargp_parse(&argp, argc, argv, ARGP_IN_ORDER, &run))
		return UCXBPF_EXIT_USAGE;
	err = capture_arguments_apply(&run.capture, "run", &options);
	if (!err)
		err = signals_open(&signals, true);
	if (err)
		return capture_exit_code(err);
	options.command = run.command;
	options.libraries = run.libraries;
	code = trace(&run, &options, &signals);
	capture_arguments_release(&run.capture);
	return code;
}
