// SPDX-License-Identifier: BSD-3-Clause
#include "site/sweep/array_commands.h"

#include <stdlib.h>

#define NAME "--job-name=ucxbpf-sweep"
#define BEFORE_END 60 /* s that a task has left when Slurm tells it that its time is over */

/* --array=0-3%2: a range where all parts have a task, else a list. */
static void add_range(const struct array_job *job, struct command *out)
{
	uint32_t first = job->tasks.data[0].part, last = job->tasks.data[job->tasks.len - 1].part;
	char *text = NULL;
	size_t length;
	FILE *list = open_memstream(&text, &length);

	if (!list)
		abort();
	if (last - first + 1 == job->tasks.len)
		fprintf(list, "%u-%u", first, last);
	else
		for (size_t i = 0; i < job->tasks.len; i++)
			fprintf(list, "%s%u", i ? "," : "", job->tasks.data[i].part);
	if (job->at_once)
		fprintf(list, "%%%u", job->at_once);
	if (fclose(list))
		abort();
	command_add(out, "--array=%s", text);
	free(text);
}

/* exec: so that it is the one that Slurm's signal reaches. */
static void add_wrap(const struct command *what, const char *more, struct command *out)
{
	char *line = command_line(what);

	command_add(out, "--wrap");
	command_add(out, "exec %s%s", line, more);
	free(line);
}

/* A % begins what sbatch puts in. */
static void add_output(const struct array_job *job, const char *name, struct command *out)
{
	char *text = NULL;
	size_t length;
	FILE *escaped = open_memstream(&text, &length);

	if (!escaped)
		abort();
	for (const char *at = job->folder; *at; at++)
		fprintf(escaped, *at == '%' ? "%%%%" : "%c", *at);
	if (fclose(escaped))
		abort();
	command_add(out, "--output=%s/log/%s", text, name);
	free(text);
}

void array_parts_command(const struct array_job *job, struct command *out)
{
	command_split(out, "sbatch --parsable --hold --no-requeue --no-kill " NAME);
	add_range(job, out);
	command_add(out, "%s", job->shared ? "--oversubscribe" : "--exclusive");
	command_add(out, "--time=%u", job->minutes);
	command_add(out, "--signal=B:TERM@%d", BEFORE_END);
	add_output(job, "part.%a", out);
	add_wrap(&job->part, " --part=\"$SLURM_ARRAY_TASK_ID\"", out);
}

void array_nodes_command(const struct array_task *task, const char *id, struct command *out)
{
	command_split(out, "scontrol update");
	command_add(out, "JobId=%s_%u", id, task->part);
	command_add(out, "ReqNodeList=%s", task->nodes);
}

void array_judge_command(const struct array_job *job, const char *id, struct command *out)
{
	command_split(out, "sbatch --parsable --no-requeue --nodes=1 --ntasks=1 " NAME);
	command_add(out, "--dependency=afterany:%s", id);
	add_output(job, "judge", out);
	add_wrap(&job->judge, "", out);
}

void array_confirm_command(const struct array_job *job, const struct array_confirmation *what,
			   struct command *out)
{
	command_split(out, "sbatch --parsable --no-requeue --no-kill " NAME);
	command_add(out, "%s", job->shared ? "--oversubscribe" : "--exclusive");
	command_add(out, "--nodes=%s", what->count);
	command_add(out, "--nodelist=%s", what->nodes);
	command_add(out, "--time=%s", what->minutes);
	command_add(out, "--signal=B:TERM@%d", BEFORE_END);
	add_output(job, "confirm", out);
	add_wrap(&job->confirm, "", out);
}

void array_told_command(const char *line, const char *id, struct command *out)
{
	command_split(out, line);
	command_add(out, "%s", id);
}

static void print(struct command *command, const char *before, FILE *out)
{
	char *line = command_line(command);

	fprintf(out, "%s%s\n", before, line);
	free(line);
	command_release(command);
}

void array_print(const struct array_job *job, FILE *out)
{
	struct command command = { 0 };

	array_parts_command(job, &command);
	print(&command, "", out);
	for (size_t i = 0; i < job->tasks.len; i++) {
		array_nodes_command(&job->tasks.data[i], "ARRAY", &command);
		print(&command, "", out);
	}
	array_judge_command(job, "ARRAY", &command);
	print(&command, "", out);
	if (job->confirm.words.len) {
		array_confirm_command(
			job, &(struct array_confirmation){ "COUNT", "NODES", "MINUTES" }, &command);
		print(&command,
		      "# and that job, if nodes or pairs are slow (PERF-01, PERF-02): ", out);
	}
	array_told_command("scontrol release", "ARRAY", &command);
	print(&command, "", out);
}
