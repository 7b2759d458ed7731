// SPDX-License-Identifier: BSD-3-Clause
/*
 * The job array of a sweep in parts: its command lines, their execution, and the state of its jobs.
 */
#include "site/sweep/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

/* ---- the command lines, each of which is appended to out ---- */

#define NAME "--job-name=ucxbpf-sweep"
#define BEFORE_END 60 /* s that a task has left when Slurm tells it that its time is over */

/* --array=0-3%2: a range where all parts have a task, else a list. */
static void add_range(const struct array_job *job, struct command *out)
{
	uint32_t first = job->tasks.data[0].part, last = job->tasks.data[job->tasks.len - 1].part;
	char *text = NULL;
	size_t length;
	FILE *list = xmemstream(&text, &length);

	if (last - first + 1 == job->tasks.len)
		fprintf(list, "%u-%u", first, last);
	else
		for (size_t i = 0; i < job->tasks.len; i++)
			fprintf(list, "%s%u", i ? "," : "", job->tasks.data[i].part);
	if (job->at_once)
		fprintf(list, "%%%u", job->at_once);
	fclose(list);
	command_add(out, "--array=%s", text);
	free(text);
}

/* exec: so that Slurm's signal reaches this program and not a shell. */
static void add_wrap(const struct command *what, const char *more, struct command *out)
{
	char *line = command_line(what);

	command_add(out, "--wrap");
	command_add(out, "exec %s%s", line, more);
	free(line);
}

/*
 * Submitted in hold until each task has its nodes: otherwise all tasks of an array get the same
 * ones.
 */
static void array_parts_command(const struct array_job *job, struct command *out)
{
	command_split(out, "sbatch --parsable --hold --no-requeue --no-kill " NAME);
	add_range(job, out);
	command_add(out, "%s", job->shared ? "--oversubscribe" : "--exclusive");
	command_add(out, "--time=%u", job->minutes);
	command_add(out, "--signal=B:TERM@%d", BEFORE_END);
	command_add_file(out, "--output=", job->folder, "/log/part.%a");
	add_wrap(&job->part, " --part=\"$SLURM_ARRAY_TASK_ID\"", out);
}

/* The nodes of a task. id: of the array. */
static void array_nodes_command(const struct array_task *task, const char *id, struct command *out)
{
	command_split(out, "scontrol update");
	command_add(out, "JobId=%s_%u", id, task->part);
	command_add(out, "ReqNodeList=%s", task->nodes);
}

/* The job that judges, once the array is over. */
static void array_judge_command(const struct array_job *job, const char *id, struct command *out)
{
	command_split(out, "sbatch --parsable --no-requeue --nodes=1 --ntasks=1 " NAME);
	command_add(out, "--dependency=afterany:%s", id);
	command_add_file(out, "--output=", job->folder, "/log/judge");
	add_wrap(&job->judge, "", out);
}

static void array_confirm_command(const struct array_job *job,
				  const struct array_confirmation *what, struct command *out)
{
	command_split(out, "sbatch --parsable --no-requeue --no-kill " NAME);
	command_add(out, "%s", job->shared ? "--oversubscribe" : "--exclusive");
	command_add(out, "--nodes=%s", what->count);
	command_add(out, "--nodelist=%s", what->nodes);
	command_add(out, "--time=%s", what->minutes);
	command_add(out, "--signal=B:TERM@%d", BEFORE_END);
	command_add_file(out, "--output=", job->folder, "/log/confirm");
	add_wrap(&job->confirm, "", out);
}

/* A command of Slurm for a job: "scancel --quiet". */
static void array_id_command(const char *line, const char *id, struct command *out)
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
	array_id_command("scontrol release", "ARRAY", &command);
	print(&command, "", out);
}

void array_release(struct array_job *job)
{
	for (size_t i = 0; i < job->tasks.len; i++)
		free(job->tasks.data[i].nodes);
	vec_release(&job->tasks);
	command_release(&job->part);
	command_release(&job->judge);
	command_release(&job->confirm);
}

/* ---- running them ---- */

#define PATH_SIZE 4096

/* The file in which the judging job writes the id of the confirming one. */
static const char *id_path(const struct array_job *job, char path[PATH_SIZE])
{
	snprintf(path, PATH_SIZE, "%s/log/confirm.job", job->folder);
	return path;
}

/* Its messages go to standard error. answer: its first line of output; NULL: ignored. */
static int run(struct command *command, char answer[ARRAY_ID])
{
	char *line = command_line(command);
	FILE *in = popen(line, "re");
	char text[256] = "";
	int status;

	if (in && answer && fgets(text, sizeof(text), in))
		snprintf(answer, ARRAY_ID, "%.*s", (int)strspn(text, "0123456789"), text);
	status = in ? pclose(in) : -1;
	if (status || (answer && !*answer)) {
		log_error("%.60s...: failed", line);
		status = -EIO;
	}
	free(line);
	command_release(command);
	return status;
}

static int run_for(const char *what, const char *id)
{
	struct command command = { 0 };

	array_id_command(what, id, &command);
	return run(&command, NULL);
}

int array_submit(struct array_job *job)
{
	struct command command = { 0 };
	int err;

	array_parts_command(job, &command);
	err = run(&command, job->id);
	for (size_t i = 0; i < job->tasks.len && !err; i++) {
		array_nodes_command(&job->tasks.data[i], job->id, &command);
		err = run(&command, NULL);
	}
	if (!err) {
		array_judge_command(job, job->id, &command);
		err = run(&command, job->judge_id);
	}
	if (!err)
		err = run_for("scontrol release", job->id);
	if (err)
		array_cancel(job);
	return err;
}

/* A job that is submitted from within a job must not inherit its size. */
static void forget_own_job(void)
{
	struct command names = { 0 };

	for (char **word = environ; *word; word++)
		if (!strncmp(*word, "SLURM_", 6) && strncmp(*word, "SLURM_CONF=", 11))
			command_add(&names, "%.*s", (int)strcspn(*word, "="), *word);
	for (size_t i = 0; i < names.words.len; i++)
		unsetenv(names.words.data[i]);
	command_release(&names);
}

int array_confirm(struct array_job *job, const struct array_confirmation *what)
{
	struct command command = { 0 };
	char path[PATH_SIZE];
	FILE *out;
	int err;

	forget_own_job();
	array_confirm_command(job, what, &command);
	err = run(&command, job->confirm_id);
	out = err ? NULL : fopen(id_path(job, path), "we");
	if (out && (fprintf(out, "%s\n", job->confirm_id) < 0) + fclose(out))
		err = -EIO;
	if (!err && !out)
		err = -errno;
	if (err)
		log_error("%s: %s", id_path(job, path), strerror(-err));
	return err;
}

bool array_confirms(struct array_job *job)
{
	char path[PATH_SIZE];
	FILE *in = *job->confirm_id ? NULL : fopen(id_path(job, path), "re");

	if (in && fscanf(in, "%31[0-9]", job->confirm_id) != 1)
		*job->confirm_id = '\0';
	if (in)
		fclose(in);
	return *job->confirm_id;
}

void array_interrupt(struct array_job *job)
{
	run_for("scancel --quiet", job->judge_id);
	if (array_confirms(job))
		run_for("scancel --quiet --batch --signal=TERM", job->confirm_id);
	run_for("scancel --quiet --state=PENDING", job->id);
	run_for("scancel --quiet --batch --signal=TERM", job->id);
}

void array_cancel(const struct array_job *job)
{
	const char *const ids[] = { job->judge_id, job->id, job->confirm_id };

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (*ids[i])
			run_for("scancel --quiet", ids[i]);
}

/* ---- how far they are ---- */

static void count(const struct array_job *job, const char *id, const char *state,
		  struct array_state *to)
{
	if (!strcmp(id, job->judge_id))
		to->judged = false;
	else if (strcmp(id, job->id) && strcmp(id, job->confirm_id))
		return;
	else if (!strcmp(state, "PENDING"))
		to->waiting++;
	else
		to->running++;
}

/* Lists all jobs of this user: squeue fails if asked for an old job by its number. */
void array_look(const struct array_job *job, struct array_state *state)
{
	FILE *in = popen("squeue --me --noheader --array --format='%F %T'", "re");
	struct array_state now = { .judged = true };
	char line[256], id[64], name[64];

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "%63s %63s", id, name) == 2)
			count(job, id, name, &now);
	if (in && !pclose(in))
		*state = now;
}
