// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/trace/chosen.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/units.h"
#include "cmd/trace/job.h"
#include "observe/process/proc.h"

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
 * whether any descendant is traced.
 */
static bool attach_below(struct capture_session *capture, pid_t launcher)
{
	pid_list below = { 0 };
	char list[160] = "", name[32];
	unsigned int found = 0;
	bool known = false;

	vec_push(&below, launcher);
	add_below(&below);
	for (size_t i = 1; i < below.len; i++) {
		unsigned int before = capture_processes(capture);
		size_t used = strlen(list);
		int err = capture_add_running(capture, below.data[i]);

		known = known || err == -EEXIST;
		if (err || capture_processes(capture) == before)
			continue;
		found++;
		if (used < sizeof(list) - 16)
			snprintf(list + used, sizeof(list) - used, "%s%d", used ? ", " : "",
				 below.data[i]);
		else if (list[used - 1] != '.')
			strcpy(list + used, "...");
	}
	command_of(launcher, name, sizeof(name));
	if (found == 1)
		log_warn("process %d (%s) uses neither UCX nor MPI itself: tracing its only "
			 "descendant that does: %s",
			 launcher, name, list);
	else if (found)
		log_warn("process %d (%s) uses neither UCX nor MPI itself: tracing its %u "
			 "descendants that do: %s",
			 launcher, name, found, list);
	vec_release(&below);
	return found || known;
}

/* ---- chosen processes ---- */

#define ENVIRONMENT_SIZE (1 << 18) /* no more of it is read */

char *chosen_environment(pid_t pid, long *size)
{
	size_t room = 0;
	char *text = vec_grow(NULL, &room, ENVIRONMENT_SIZE, 1);

	*size = proc_read(pid, "environ", text, ENVIRONMENT_SIZE - 1);
	text[*size > 0 ? *size : 0] = '\0';
	return text;
}

/* 1: it is; 0: it is not, or is gone; -EACCES: nobody can tell. */
static int in_job(pid_t pid, const char *job)
{
	long size;
	char *text = chosen_environment(pid, &size);
	int found = size > 0 && job_has(text, (size_t)size, job);

	free(text);
	return size == -EACCES || size == -EPERM ? -EACCES : found;
}

#define NEEDED "it needs CAP_SYS_PTRACE"
#define NEEDED_TO_READ NEEDED ", and CAP_DAC_READ_SEARCH for processes of other users"

static void explain(pid_t pid, int err)
{
	switch (err) {
	case -EACCES:
		log_error("cannot trace process %d: %s; " NEEDED
			  ", and a security module may forbid it",
			  pid, strerror(-err));
		break;
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
	case -ETIME:
		log_error("cannot trace process %d: nobody answers for its program's file or its "
			  "memory; try again in a minute",
			  pid);
		break;
	default:
		log_error("cannot trace process %d: %s", pid, strerror(-err));
	}
}

/* any: others are traced; else chosen_begin() refuses all together. */
static void name_idle(const pid_list *idle, bool any)
{
	char name[32];

	for (size_t i = 0; i < idle->len; i++) {
		command_of(idle->data[i], name, sizeof(name));
		if (!strcmp(name, "srun"))
			log_warn(
				"process %d is srun, and the ranks are not its descendants: use --job ID",
				idle->data[i]);
		else if (any)
			log_warn("process %d (%s) and its descendants use neither UCX nor MPI so "
				 "far: not traced",
				 idle->data[i], name);
	}
}

static int add_listed(struct chosen *chosen, struct capture_session *capture, bool waiting)
{
	pid_list idle = { 0 };
	size_t added = 0;
	int last = 0;

	for (size_t i = 0; i < chosen->pids.len; i++) {
		const pid_t pid = chosen->pids.data[i];
		unsigned int before = capture_processes(capture);
		int err = (waiting ? capture_add_waiting : capture_add_running)(capture, pid);

		if (!err)
			added++;
		if (!err && capture_processes(capture) == before && !attach_below(capture, pid) &&
		    !waiting)
			vec_push(&idle, pid);
		if (err && err != -EEXIST)
			explain(pid, last = err);
	}
	name_idle(&idle, !chosen->patient && capture_processes(capture) > 0);
	chosen->partial = last || (idle.len && !chosen->patient);
	vec_release(&idle);
	return added ? 0 : last;
}

/* Adds the processes of the job that were not there before; unreadable: may be of it, too. */
static unsigned int look_for_job(const struct chosen *chosen, struct capture_session *capture,
				 unsigned int *unreadable)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	unsigned int added = 0;

	*unreadable = 0;
	while (proc && (entry = readdir(proc))) {
		pid_t pid = atoi(entry->d_name);
		int found = pid > 1 && pid != getpid() ? in_job(pid, chosen->job) : 0;

		if (found > 0)
			added += !capture_add_running(capture, pid);
		*unreadable += found < 0;
	}
	if (proc)
		closedir(proc);
	return added;
}

/* Until nothing new appears: a job may be starting processes meanwhile. */
static int add_job(const struct chosen *chosen, struct capture_session *capture)
{
	unsigned int added = 0, more, unreadable;

	do {
		more = look_for_job(chosen, capture, &unreadable);
		added += more;
	} while (more);
	if (!added && unreadable) {
		log_error("could not read the environment of %u processes, none of the others is "
			  "of job %s: " NEEDED_TO_READ,
			  unreadable, chosen->job);
		return -EACCES;
	}
	if (!added) {
		log_error("no process here is of job %s, by " JOB_VARIABLES, chosen->job);
		return -ESRCH;
	}
	if (unreadable)
		log_warn("could not read the environment of %u processes, which may be of job %s, "
			 "too: " NEEDED_TO_READ,
			 unreadable, chosen->job);
	return 0;
}

static int add_chosen(struct chosen *chosen, struct capture_session *capture, bool waiting)
{
	int err = chosen->pids.len ? add_listed(chosen, capture, waiting) : 0;

	return !err && chosen->job ? add_job(chosen, capture) : err;
}

int chosen_begin(struct chosen *chosen, struct capture_session *capture, bool waiting)
{
	int err = add_chosen(chosen, capture, waiting);

	if (!err && !chosen->all && !chosen->patient && !capture_processes(capture)) {
		log_error("none of the processes maps UCX or MPI now; 'ucxbpf doctor' lists those "
			  "that do, also in containers, 'ucxbpf doctor -p PID' says why others do "
			  "not, 'run' and 'attach --all' wait for it");
		err = -EOPNOTSUPP;
	}
	if (!err)
		err = capture_begin(capture);
	if (!err && chosen->all)
		capture_add_all(capture);
	return err;
}

/* ---- options ---- */

/* One line and the status of usage; argp_error() adds where to find help. */
#define refuse(state, ...) argp_failure(state, argp_err_exit_status, 0, __VA_ARGS__)

static void parse_pids(struct chosen *chosen, char *list, struct argp_state *state)
{
	char *word;

	while ((word = strsep(&list, ","))) {
		char *end;
		long pid = strtol(word, &end, 10);

		if (*end || end == word || pid <= 0 || pid > 1 << 22)
			refuse(state, "'%s' is not a process id", word);
		else
			vec_push(&chosen->pids, (pid_t)pid);
	}
}

error_t chosen_parse(struct chosen *chosen, int key, char *value, struct argp_state *state)
{
	switch (key) {
	case 'p':
		parse_pids(chosen, value, state);
		return 0;
	case CHOSEN_JOB:
		if (!*value)
			refuse(state, "'' is not the id of a job");
		chosen->job = value;
		return 0;
	case CHOSEN_ALL:
		chosen->all = true;
		return 0;
	case 'd':
		if (seconds_parse(value, &chosen->seconds) || !(chosen->seconds > 0))
			refuse(state, "'%s' is not a duration such as 5s, 500ms or 2m", value);
		return 0;
	case ARGP_KEY_ARG:
		parse_pids(chosen, value, state);
		return 0;
	case ARGP_KEY_END:
		if ((chosen->pids.len > 0) + !!chosen->job + chosen->all != 1)
			refuse(state, "give one of PID, --job ID and --all");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}
