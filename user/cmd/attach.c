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
#include "observe/process/proc.h"
#include "observe/capture/capture.h"

/* ---- launchers: `attach -p` with the pid of mpirun, srun or a shell ---- */

typedef VEC(pid_t) pid_list;

static bool has_pid(const pid_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->len; i++)
		if (list->data[i] == pid)
			return true;
	return false;
}

/* Children may have smaller pids than their parents: until nothing new appears. */
static void add_below(pid_list *below)
{
	size_t before;

	do {
		DIR *proc = opendir("/proc");
		struct dirent *entry;

		before = below->len;
		while (proc && (entry = readdir(proc))) {
			pid_t pid = atoi(entry->d_name);

			if (pid > 0 && !has_pid(below, pid) &&
			    has_pid(below, (pid_t)proc_status_number(pid, "PPid:")))
				vec_push(below, pid);
		}
		if (proc)
			closedir(proc);
	} while (below->len != before);
}

static void command_of(pid_t pid, char *name, size_t size)
{
	long got = proc_read(pid, "comm", name, size - 1);

	name[got > 0 ? got : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
}

/*
 * Adds the descendants that map UCX or MPI of a process that maps neither, and prints them. Returns
 * their number.
 */
static unsigned int attach_below(struct capture_session *capture, pid_t launcher)
{
	pid_list below = { 0 };
	char list[160] = "", name[32];
	unsigned int found = 0;

	vec_push(&below, launcher);
	add_below(&below);
	for (size_t i = 1; i < below.len; i++) {
		unsigned int before = capture_processes(capture);
		size_t used = strlen(list);

		if (capture_add_running(capture, below.data[i]) ||
		    capture_processes(capture) == before)
			continue;
		found++;
		if (used < sizeof(list) - 16)
			snprintf(list + used, sizeof(list) - used, "%s%d", used ? ", " : "",
				 below.data[i]);
		else if (list[used - 1] != '.')
			strcpy(list + used, "...");
	}
	command_of(launcher, name, sizeof(name));
	if (found)
		log_warn("process %d (%s) uses neither UCX nor MPI itself: tracing the %u below it "
			 "that do: %s",
			 launcher, name, found, list);
	else if (!strcmp(name, "srun"))
		log_warn("process %d is srun, whose ranks are not below it: attach --job ID",
			 launcher);
	vec_release(&below);
	return found;
}

/* ---- chosen processes ---- */

/* The running processes to trace: by pid, or by Slurm job. */
struct chosen {
	VEC(pid_t) pids;
	const char *job; /* NULL: none */
	bool partial; /* set by chosen_add(): some of the listed ones could not be traced */
};

#define ENVIRONMENT_SIZE (1 << 18) /* no more of it is read */

/* A process's variables as /proc has them, each with its NUL; empty if it is gone. To be freed. */
static char *environment_of(pid_t pid, long *size)
{
	size_t room = 0;
	char *text = vec_grow(NULL, &room, ENVIRONMENT_SIZE, 1);

	*size = proc_read(pid, "environ", text, ENVIRONMENT_SIZE - 1);
	if (*size < 0)
		*size = 0;
	text[*size] = '\0';
	return text;
}

static bool in_job(pid_t pid, const char *job)
{
	static const char name[] = "SLURM_JOB_ID=";
	const char *value = NULL;
	long size;
	char *text = environment_of(pid, &size);
	bool found;

	for (char *word = text; !value && word < text + size; word += strlen(word) + 1)
		if (!strncmp(word, name, sizeof(name) - 1))
			value = word + sizeof(name) - 1;
	found = value && !strcmp(value, job);
	free(text);
	return found;
}

static void explain(pid_t pid, int err)
{
	switch (err) {
	case -ESRCH:
		log_error("process %d does not exist", pid);
		break;
	case -EINVAL:
		log_error("%d is a thread of process %ld, attach to that", pid,
			  proc_status_number(pid, "Tgid:"));
		break;
	case -EOPNOTSUPP:
		log_error("process %d runs a 32-bit program, which is not supported", pid);
		break;
	default:
		log_error("cannot trace process %d: %s", pid, strerror(-err));
	}
}

static int add_listed(struct chosen *chosen, struct capture_session *capture, bool waiting)
{
	size_t added = 0;
	int last = 0;

	for (size_t i = 0; i < chosen->pids.len; i++) {
		unsigned int before = capture_processes(capture);
		int err = (waiting ? capture_add_waiting
				   : capture_add_running)(capture, chosen->pids.data[i]);

		if (!err)
			added++;
		if (!err && capture_processes(capture) == before)
			attach_below(capture, chosen->pids.data[i]);
		if (err && err != -EEXIST)
			explain(chosen->pids.data[i], last = err);
	}
	chosen->partial = last;
	return added ? 0 : last;
}

/* Until nothing new appears: a job may be starting processes meanwhile. */
static int add_job(const struct chosen *chosen, struct capture_session *capture)
{
	unsigned int added = 0, before;

	do {
		DIR *proc = opendir("/proc");
		struct dirent *entry;

		before = added;
		while (proc && (entry = readdir(proc))) {
			pid_t pid = atoi(entry->d_name);

			if (pid > 0 && pid != getpid() && in_job(pid, chosen->job))
				added += !capture_add_running(capture, pid);
		}
		if (proc)
			closedir(proc);
	} while (added != before);
	if (!added)
		log_error("no process here has SLURM_JOB_ID=%s", chosen->job);
	return added ? 0 : -ESRCH;
}

/*
 * Adds the chosen processes; for a launcher, its descendants. waiting: the listed ones wait until
 * they are probed. Returns 0, or -errno if there is none (printed).
 */
static int chosen_add(struct chosen *chosen, struct capture_session *capture, bool waiting)
{
	int err = chosen->pids.len ? add_listed(chosen, capture, waiting) : 0;

	return !err && chosen->job ? add_job(chosen, capture) : err;
}

/* ---- the command ---- */

struct attach {
	struct capture_arguments capture;
	struct chosen chosen;
	bool all;
	double seconds;
	const char *ready; /* file to write when records begin; NULL: none */
};

enum { OPT_JOB = 512, OPT_ALL, OPT_READY };

static const struct argp_option options[] = {
	{ "pid", 'p', "PID[,PID...]", 0,
	  "Processes to trace, with the children they start; of a launcher, those below it", 0 },
	{ "job", OPT_JOB, "ID", 0, "All processes of this Slurm job on this node", 0 },
	{ "all", OPT_ALL, NULL, 0, "Every process that uses UCX or MPI, now or later", 0 },
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

static void parse_pids(struct attach *attach, char *list, struct argp_state *state)
{
	char *word;

	while ((word = strsep(&list, ","))) {
		char *end;
		long pid = strtol(word, &end, 10);

		if (*end || end == word || pid <= 0 || pid > 1 << 22)
			argp_error(state, "'%s' is not a process id", word);
		else
			vec_push(&attach->chosen.pids, (pid_t)pid);
	}
}

static error_t parse(int key, char *value, struct argp_state *state)
{
	struct attach *attach = state->input;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &attach->capture;
		return 0;
	case 'p':
		parse_pids(attach, value, state);
		return 0;
	case OPT_JOB:
		attach->chosen.job = value;
		return 0;
	case OPT_ALL:
		attach->all = true;
		return 0;
	case OPT_READY:
		attach->ready = value;
		return 0;
	case 'd':
		attach->seconds = strtod(value, &end);
		if (*end || !(attach->seconds > 0))
			argp_error(state, "'%s' is not a duration in seconds", value);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is no option; processes come behind -p", value);
		return 0;
	case ARGP_KEY_END:
		if (attach->ready && !attach->chosen.pids.len)
			argp_error(state, "--ready requires -p");
		if ((attach->chosen.pids.len > 0) + !!attach->chosen.job + attach->all != 1)
			argp_error(state, "give one of -p PID, --job ID and --all");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int add_processes(struct attach *attach, struct capture_session *capture)
{
	int err = chosen_add(&attach->chosen, capture, attach->ready);

	if (!err && !attach->all && !capture_processes(capture)) {
		log_error("none of the processes maps UCX or MPI now; 'ucxbpf doctor -p PID' says "
			  "why, 'run' and 'attach --all' wait for it");
		err = -EOPNOTSUPP;
	}
	if (!err)
		err = capture_begin(capture);
	if (!err && attach->all)
		capture_add_all(capture);
	return err;
}

/* A process that waits for us has loaded little so far: the rest comes while MPI starts. */
static void prepare(const struct attach *attach, struct capture_session *capture)
{
	for (size_t i = 0; attach->ready && i < attach->chosen.pids.len; i++) {
		long size;
		char *text = environment_of(attach->chosen.pids.data[i], &size);
		VEC(char *) environment = { 0 };

		for (char *word = text; word < text + size; word += strlen(word) + 1)
			vec_push(&environment, word);
		vec_push(&environment, NULL);
		capture_prepare(capture, environment.data);
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
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(attach->seconds * 1e9);
	struct signalfd_siginfo info;

	while (!*err) {
		if (signals_next(signals, &info))
			return "interrupt";
		if (!capture_alive(capture) && !attach->all)
			return "exit";
		if (attach->seconds && clock_ns(CLOCK_MONOTONIC) >= end)
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
	err = add_processes(attach, capture);
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
	capture_options.all = attach.all;
	code = trace(&attach, &capture_options);
	vec_release(&attach.chosen.pids);
	return code;
}
