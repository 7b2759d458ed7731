// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/trace/chosen.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/trace/launcher.h"
#include "observe/process/proc.h"

static bool in_job(pid_t pid, const char *job)
{
	static char environment[1 << 18];
	long size = proc_read(pid, "environ", environment, sizeof(environment) - 1);
	static const char name[] = "SLURM_JOB_ID=";

	environment[size > 0 ? size : 0] = '\0';
	for (char *word = environment; word < environment + size; word += strlen(word) + 1)
		if (!strncmp(word, name, sizeof(name) - 1))
			return !strcmp(word + sizeof(name) - 1, job);
	return false;
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

static int add_listed(struct chosen *chosen, struct capture *capture, bool waiting)
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
static int add_job(const struct chosen *chosen, struct capture *capture)
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

int chosen_add(struct chosen *chosen, struct capture *capture, bool waiting)
{
	int err = chosen->pids.len ? add_listed(chosen, capture, waiting) : 0;

	return !err && chosen->job ? add_job(chosen, capture) : err;
}
