// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/trace/launcher.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/vec.h"
#include "observe/process/proc.h"

typedef VEC(pid_t) pids;

static bool has(const pids *list, pid_t pid)
{
	for (size_t i = 0; i < list->len; i++)
		if (list->data[i] == pid)
			return true;
	return false;
}

/* Children may have smaller pids than their parents: until nothing new appears. */
static void add_below(pids *below)
{
	size_t before;

	do {
		DIR *proc = opendir("/proc");
		struct dirent *entry;

		before = below->len;
		while (proc && (entry = readdir(proc))) {
			pid_t pid = atoi(entry->d_name);

			if (pid > 0 && !has(below, pid) &&
			    has(below, (pid_t)proc_status_number(pid, "PPid:")))
				vec_push(below, pid);
		}
		if (proc)
			closedir(proc);
	} while (below->len != before);
}

static void name_of(pid_t pid, char *name, size_t size)
{
	long got = proc_read(pid, "comm", name, size - 1);

	name[got > 0 ? got : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
}

unsigned int attach_below(struct capture *capture, pid_t launcher)
{
	pids below = { 0 };
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
	name_of(launcher, name, sizeof(name));
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
