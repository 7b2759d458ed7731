// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/process.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpus.h"
#include "observe/process/launch.h"
#include "observe/process/proc.h"

int process_is_32bit(pid_t pid)
{
	unsigned char ident[EI_NIDENT] = { 0 };
	long got = proc_read(pid, "exe", ident, sizeof(ident));

	if (got < 0)
		return (int)got;
	return got == sizeof(ident) && ident[EI_CLASS] == ELFCLASS32;
}

/* Field 22 of /proc/PID/stat, counted behind the name, which may hold blanks and brackets. */
static int read_stat(struct process *process)
{
	char text[1024], *at, *name;
	long got = proc_read(process->pid, "stat", text, sizeof(text) - 1);
	unsigned long long ticks;

	if (got < 0)
		return (int)got;
	text[got] = '\0';
	name = strchr(text, '(');
	at = strrchr(text, ')');
	if (!name || !at ||
	    sscanf(at + 1,
		   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d"
		   " %*d %*d %*d %*d %llu",
		   &ticks) != 1)
		return -ESRCH;
	snprintf(process->comm, sizeof(process->comm), "%.*s", (int)(at - name - 1), name + 1);
	process->start_time = ticks * (1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK));
	return 0;
}

#define STATUS_ROOM 16384

/* What stands behind a label in /proc/PID/status ("\nNSpid:"), within text; NULL: no such line. */
static char *read_status(pid_t pid, const char *label, char text[STATUS_ROOM])
{
	long got = proc_read(pid, "status", text, STATUS_ROOM - 1);
	char *at, *end;

	text[got < 0 ? 0 : got] = '\0';
	at = strstr(text, label);
	end = at ? strchr(at + 1, '\n') : NULL;
	if (!end)
		return NULL;
	*end = '\0';
	at += strlen(label);
	return at + strspn(at, "\t ");
}

/* "NSpid:" lists the pid in each namespace, the process's own last. */
pid_t process_ns_pid(pid_t pid)
{
	char text[STATUS_ROOM], *at = read_status(pid, "\nNSpid:", text);
	pid_t ns_pid = pid;

	while (at && *at) {
		ns_pid = (pid_t)strtol(at, &at, 10);
		at += strspn(at, "\t ");
	}
	return ns_pid;
}

/* Of the process's first thread: others may be bound elsewhere. */
static void read_cpus(struct process *process)
{
	char text[STATUS_ROOM];
	const char *list = read_status(process->pid, "\nCpus_allowed_list:", text);

	if (list && strlen(list) < sizeof(process->cpus) && cpus_count(list) > 0)
		strcpy(process->cpus, list);
}

static uint64_t namespace_inode(pid_t pid, const char *name)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, name);
	return stat(path, &st) ? 0 : st.st_ino;
}

static char *read_exe(pid_t pid)
{
	char path[64], target[4096];
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	got = readlink(path, target, sizeof(target) - 1);
	return got < 0 ? NULL : strndup(target, (size_t)got);
}

static json_t *read_cmdline(pid_t pid)
{
	json_t *words = json_array();
	char text[4096];
	long got = proc_read(pid, "cmdline", text, sizeof(text) - 1);

	if (got < 0)
		return words;
	text[got] = '\0';
	for (char *at = text; at < text + got; at += strlen(at) + 1) {
		json_t *word = json_string(at);

		/* arguments need not be UTF-8, but JSON must be */
		json_array_append_new(words, word ? word : json_string("?"));
	}
	return words;
}

int process_init(struct process *process, pid_t pid)
{
	int error;

	*process = (struct process){ .pid = pid, .rank = -1, .size = -1, .local_rank = -1 };
	error = read_stat(process);
	if (error)
		return error;
	process->ns_pid = process_ns_pid(pid);
	process->pid_ns = namespace_inode(pid, "pid");
	process_uts_name(pid, process->uts, sizeof(process->uts));
	process->exe = read_exe(pid);
	process->cmdline = read_cmdline(pid);
	launch_facts(process);
	read_cpus(process);
	return 0;
}

void process_release(struct process *process)
{
	free(process->exe);
	json_decref(process->cmdline);
	json_decref(process->environment);
	*process = (struct process){ 0 };
}
