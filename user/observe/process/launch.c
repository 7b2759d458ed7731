// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/kept.h"
#include "base/text.h"
#include "observe/process/proc.h"
#include "observe/process/process.h"

/* Linux takes no more of arguments and environment at exec: 3/4 of _STK_LIM (fs/exec.c). */
#define MAX_ENVIRON (6 << 20)

/*
 * In order of trust: a launcher inside a Slurm allocation leaves the allocation's own variables as
 * they were, so those come last.
 */
static const struct {
	const char *rank, *size, *local_rank;
} launchers[] = {
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK" },
	{ "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID" },
	{ "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK" },
	{ "PMIX_RANK", "SLURM_NTASKS", "SLURM_LOCALID" },
	{ "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID" },
};

static const char *const job_variables[] = {
	"PMIX_NAMESPACE",
	"OMPI_MCA_ess_base_jobid",
	"SLURM_JOB_ID",
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const char *find(const char *text, size_t size, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = text; at < text + size; at += strlen(at) + 1)
		if (!strncmp(at, name, length) && at[length] == '=')
			return at + length + 1;
	return NULL;
}

static int number(const char *text, size_t size, const char *name)
{
	const char *value = find(text, size, name);
	long result;
	char *end;

	if (!value || !*value)
		return -1;
	result = strtol(value, &end, 10);
	return *end || result < 0 || result > 1 << 30 ? -1 : (int)result;
}

/*
 * Of several variables of one name the first is what getenv() finds; so where one finds no room,
 * none behind it does.
 */
static void keep(struct process *process, const char *name, const char *value, size_t *room)
{
	size_t size = strlen(name) + strlen(value);
	char *text;

	if (json_object_get(process->environment, name))
		return;
	if (size > *room) {
		process->environment_cut++;
		*room = 0;
		return;
	}
	text = text_plain(value);
	json_object_set_new(process->environment, name, json_string(text));
	*room -= size;
	free(text);
}

static void keep_environment(struct process *process, const char *text, size_t size)
{
	size_t room = ENVIRONMENT_ROOM;

	process->environment = json_object();
	for (const char *at = text; at < text + size; at += strlen(at) + 1) {
		const char *value = strchr(at, '=');
		char *name = value ? strndup(at, value - at) : NULL;
		char *plain = name ? text_plain(name) : NULL;

		if (plain && environment_kept(plain))
			keep(process, plain, value + 1, &room);
		free(plain);
		free(name);
	}
}

void launch_facts_from(struct process *process, const char *text, unsigned long size)
{
	for (size_t i = 0; i < COUNT(launchers) && process->rank < 0; i++) {
		process->rank = number(text, size, launchers[i].rank);
		if (process->rank < 0)
			continue;
		process->size = number(text, size, launchers[i].size);
		process->local_rank = number(text, size, launchers[i].local_rank);
		snprintf(process->rank_from, sizeof(process->rank_from), "%s", launchers[i].rank);
	}
	for (size_t i = 0; i < COUNT(job_variables) && !*process->job; i++) {
		const char *value = find(text, size, job_variables[i]);

		if (value)
			snprintf(process->job, sizeof(process->job), "%s", value);
	}
	keep_environment(process, text, size);
}

void launch_facts(struct process *process)
{
	char *text = malloc(MAX_ENVIRON + 1);
	long got = text ? proc_read(process->pid, "environ", text, MAX_ENVIRON) : 0;

	if (got > 0)
		text[got] = '\0';
	/* of a process that has ended nothing can be read, nor which program it was */
	if (got > 0 || (!got && process->exe))
		launch_facts_from(process, text, (unsigned long)got);
	process->environment_cut += got == MAX_ENVIRON;
	free(text);
}
