// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/batch.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "observe/process/proc.h"

#define ANCESTORS_MOST 64
#define STEP_DAEMON "slurmstepd: ["

/* Copies digits. Returns the end of them; NULL: no digit, or no room. */
static const char *take_number(const char *text, char *to, size_t room)
{
	const size_t length = strspn(text, "0123456789");

	if (!length || length >= room)
		return NULL;
	memcpy(to, text, length);
	to[length] = '\0';
	return text + length;
}

/* Copies the name of a step up to that character; names that Slurm does not write are left out. */
static void take_step(const char *text, char end, struct batch_id *id)
{
	static const char *const names[] = { "batch", "extern", "interactive" };
	const char *behind = take_number(text, id->step, sizeof(id->step));

	if (behind && (*behind == end || *behind == '+' || !*behind))
		return;
	id->step[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const size_t length = strlen(names[i]);

		if (!strncmp(text, names[i], length) && (text[length] == end || !text[length]))
			strcpy(id->step, names[i]);
	}
}

/*
 * Searches from the root on: further below, a user may have cgroups of any name. NULL: no cgroup is
 * Slurm's.
 */
static const char *behind_slurm(const char *path)
{
	static const char v2[] = "/system.slice/", scope[] = "slurmstepd.scope/";
	static const char v1[] = "/slurm", uid[] = "/uid_";
	const char *at;

	if (!strncmp(path, v2, strlen(v2))) {
		at = strstr(path, scope); /* or NODE_slurmstepd.scope */
		return at && !memchr(path + strlen(v2), '/', (size_t)(at - path) - strlen(v2))
			       ? at + strlen(scope)
			       : NULL;
	}
	if (strncmp(path, v1, strlen(v1)) || !(path[strlen(v1)] == '/' || path[strlen(v1)] == '_'))
		return NULL;
	at = strchr(path + 1, '/');
	if (!at || strncmp(at, uid, strlen(uid)))
		return NULL;
	at = strchr(at + 1, '/');
	return at ? at + 1 : NULL;
}

static bool from_path(const char *path, struct batch_id *id)
{
	const char *at = behind_slurm(path);

	if (!at || strncmp(at, "job_", 4))
		return false;
	at = take_number(at + 4, id->job, sizeof(id->job));
	if (!at || (*at && *at != '/'))
		return false;
	if (!strncmp(at, "/step_", 6))
		take_step(at + 6, '/', id);
	return true;
}

/* Lines "HIERARCHY:CONTROLLERS:PATH". */
bool batch_from_cgroups(const char *text, struct batch_id *id)
{
	char line[4096];
	bool found = false;

	while (*text && !found) {
		const size_t length = strcspn(text, "\n");
		const char *path = NULL;

		if (length < sizeof(line)) {
			memcpy(line, text, length);
			line[length] = '\0';
			path = strchr(line, ':');
			path = path ? strchr(path + 1, ':') : NULL;
		}
		*id = (struct batch_id){ .job = "" };
		found = path && from_path(path + 1, id);
		text += length + (text[length] == '\n');
	}
	return found;
}

bool batch_from_title(const char *title, struct batch_id *id)
{
	const char *at = title + strlen(STEP_DAEMON);

	*id = (struct batch_id){ .job = "" };
	if (strncmp(title, STEP_DAEMON, strlen(STEP_DAEMON)))
		return false;
	at = take_number(at, id->job, sizeof(id->job));
	if (!at || !(*at == ']' || *at == '.' || *at == '+'))
		return false;
	at = strpbrk(at, ".]");
	if (at && *at == '.')
		take_step(at + 1, ']', id);
	return true;
}

/* Any process may set such a title, but only root's is believed. */
static bool is_step_daemon(pid_t pid, struct batch_id *id)
{
	char path[32], title[128];
	struct stat st;
	long got;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (stat(path, &st) || st.st_uid)
		return false;
	got = proc_read(pid, "cmdline", title, sizeof(title) - 1);
	if (got <= 0)
		return false;
	title[got] = '\0';
	return batch_from_title(title, id);
}

static bool has_step_daemon(pid_t pid, struct batch_id *id)
{
	long parent = proc_status_number(pid, "PPid:");

	for (int i = 0; parent > 1 && i < ANCESTORS_MOST; i++) {
		if (is_step_daemon((pid_t)parent, id))
			return true;
		parent = proc_status_number((pid_t)parent, "PPid:");
	}
	return false;
}

bool batch_of(pid_t pid, struct batch_id *id)
{
	char text[16384];
	const long got = proc_read(pid, "cgroup", text, sizeof(text) - 1);

	text[got > 0 ? got : 0] = '\0';
	return batch_from_cgroups(text, id) || has_step_daemon(pid, id);
}

static bool has_cgroups(void)
{
	static const char *const folders[] = { "system.slice/slurmstepd.scope", "freezer/slurm",
					       "memory/slurm", "cpuset/slurm", "cpu/slurm" };
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(folders) && !found; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/sys/fs/cgroup/%s", folders[i]);
		found = !access(path, F_OK);
	}
	return found;
}

#define KERNEL_THREADS_PARENT 2 /* there may be thousands of them */

static bool job_runs_here(const char *job)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	struct batch_id id;
	bool found = false;

	while (proc && !found && (entry = readdir(proc))) {
		const pid_t pid = (pid_t)atoi(entry->d_name);

		found = pid && proc_status_number(pid, "PPid:") != KERNEL_THREADS_PARENT &&
			is_step_daemon(pid, &id) && !strcmp(id.job, job);
	}
	if (proc)
		closedir(proc);
	return found;
}

bool batch_would_show(const char *job)
{
	return has_cgroups() || job_runs_here(job);
}
