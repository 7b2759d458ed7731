// SPDX-License-Identifier: BSD-3-Clause
#include "site/sweep/array.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "site/sweep/array_commands.h"

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

/* Where the job that judges writes which one confirms. */
static const char *id_path(const struct array_job *job)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/log/confirm.job", job->folder);
	return path;
}

/* What it says of itself goes to standard error. answer: its first line; NULL: not wanted. */
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

static int tell(const char *what, const char *id)
{
	struct command command = { 0 };

	array_told_command(what, id, &command);
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
		err = tell("scontrol release", job->id);
	if (err)
		array_cancel(job);
	return err;
}

/* A job that is submitted by one must not inherit how large that one is. */
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
	FILE *out;
	int err;

	forget_own_job();
	array_confirm_command(job, what, &command);
	err = run(&command, job->confirm_id);
	out = err ? NULL : fopen(id_path(job), "we");
	if (out && (fprintf(out, "%s\n", job->confirm_id) < 0) + fclose(out))
		err = -EIO;
	if (!err && !out)
		err = -errno;
	if (err)
		log_error("%s: %s", id_path(job), strerror(-err));
	return err;
}

bool array_confirms(struct array_job *job)
{
	FILE *in = *job->confirm_id ? NULL : fopen(id_path(job), "re");

	if (in && fscanf(in, "%31[0-9]", job->confirm_id) != 1)
		*job->confirm_id = '\0';
	if (in)
		fclose(in);
	return *job->confirm_id;
}

void array_interrupt(struct array_job *job)
{
	tell("scancel --quiet", job->judge_id);
	if (array_confirms(job))
		tell("scancel --quiet --batch --signal=TERM", job->confirm_id);
	tell("scancel --quiet --state=PENDING", job->id);
	tell("scancel --quiet --batch --signal=TERM", job->id);
}

void array_cancel(const struct array_job *job)
{
	const char *const ids[] = { job->judge_id, job->id, job->confirm_id };

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (*ids[i])
			tell("scancel --quiet", ids[i]);
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

/* All jobs of this user: asked for an old one by its number, squeue fails. */
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
