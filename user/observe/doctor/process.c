// SPDX-License-Identifier: BSD-3-Clause
#include "observe/doctor/library.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORTH_LISTING (LIB_MPI | LIB_UCP | LIB_UCT)

json_t *doctor_process_facts(pid_t pid)
{
	char path[64], comm[32] = "", exe[4096];
	FILE *file;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	if (!fgets(comm, sizeof(comm), file))
		comm[0] = '\0';
	comm[strcspn(comm, "\n")] = '\0';
	fclose(file);
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = '\0';
	return json_pack("{s:i, s:s%, s:s?}", "pid", pid, "comm", comm, strlen(comm), "exe",
			 n > 0 ? exe : NULL);
}

static void add_process(struct doctor *doctor, pid_t pid, const mapped_libraries *libraries,
			bool plan)
{
	json_t *facts = doctor_process_facts(pid), *list = json_array();

	if (!facts) {
		json_decref(list);
		return;
	}
	for (size_t i = 0; i < libraries->len; i++)
		json_array_append_new(list, doctor_library(doctor, &libraries->data[i], plan));
	json_object_set_new(facts, "libraries", list);
	json_array_append_new(json_object_get(doctor->report, "processes"), facts);
}

static bool worth_listing(const mapped_libraries *libraries)
{
	for (size_t i = 0; i < libraries->len; i++)
		if (libraries->data[i].library->roles & WORTH_LISTING)
			return true;
	return false;
}

/* Whether a trace of it would show MPI calls at most. */
static bool avoids_ucx(pid_t pid, const mapped_libraries *libraries)
{
	struct doctor alone;
	bool uses_mpi = false, avoids;

	for (size_t i = 0; i < libraries->len; i++)
		uses_mpi |= libraries->data[i].library->roles & LIB_MPI;
	if (!uses_mpi)
		return false;
	doctor_init(&alone);
	doctor_explain(&alone, pid, libraries);
	avoids = alone.status != 0;
	doctor_release(&alone);
	return avoids;
}

static void name_process(char *list, size_t size, pid_t pid)
{
	size_t used = strlen(list);

	if (used < size - 16)
		snprintf(list + used, size - used, "%s%d", used ? ", " : "", pid);
	else if (list[used - 1] != '.')
		strcpy(list + used, "...");
}

void doctor_list(struct doctor *doctor)
{
	char without[160] = "";
	struct library_set set = { 0 };
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int hidden = 0;
	char number[24];

	while (proc && (entry = readdir(proc))) {
		mapped_libraries libraries = { 0 };
		pid_t pid = isdigit(entry->d_name[0]) ? atoi(entry->d_name) : 0;
		int err = pid ? process_libraries(pid, &set, &libraries) : 0;

		if (err == -EACCES || err == -EPERM)
			hidden++;
		if (!err && worth_listing(&libraries))
			add_process(doctor, pid, &libraries, false);
		if (!err && avoids_ucx(pid, &libraries))
			name_process(without, sizeof(without), pid);
		vec_release(&libraries);
	}
	if (proc)
		closedir(proc);
	library_set_release(&set);
	snprintf(number, sizeof(number), "%d", hidden);
	if (*without)
		doctor_problem(doctor, PROBLEM_AVOIDS_UCX, without);
	/* root is refused only where the process is protected from everyone */
	if (hidden && geteuid())
		doctor_problem(doctor, PROBLEM_HIDDEN, number);
	else if (!json_array_size(json_object_get(doctor->report, "processes")))
		doctor_problem(doctor, PROBLEM_NOBODY);
}

static void explain_error(struct doctor *doctor, pid_t pid, int err)
{
	char number[24];

	snprintf(number, sizeof(number), "%d", pid);
	if (err == -ESRCH || err == -ENOENT)
		doctor_problem(doctor, PROBLEM_NO_PROCESS, number);
	else if (err == -EOPNOTSUPP)
		doctor_problem(doctor, PROBLEM_NOT_64BIT);
	else
		doctor_problem(doctor, PROBLEM_NOT_READABLE, strerror(-err));
}

void doctor_process(struct doctor *doctor, pid_t pid)
{
	struct library_set set = { 0 };
	mapped_libraries libraries = { 0 };
	int err = process_libraries(pid, &set, &libraries);

	if (err < 0) {
		explain_error(doctor, pid, err);
	} else {
		add_process(doctor, pid, &libraries, true);
		doctor_explain(doctor, pid, &libraries);
	}
	vec_release(&libraries);
	library_set_release(&set);
}
