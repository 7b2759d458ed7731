// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/output/verdict.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/lists.h"
#include "base/log.h"
#include "cmd/output/output.h"
#include "show/page/page.h"
#include "site/judge/verdict/drain.h"

#define LEAST_WIDTH 60

static int write_page(const struct judge *judge, const struct judge_output *how, FILE *out)
{
	char *data = NULL;
	size_t bytes;
	FILE *memory = xmemstream(&data, &bytes);
	int err = judge_page_data(judge, how, memory);

	fclose(memory);
	if (!err)
		err = page_verdict(data, how->beside, out);
	free(data);
	return err;
}

static const struct {
	const char *name;
	int (*write)(const struct judge *judge, const struct judge_output *how, FILE *out);
} forms[VERDICT_FORMS] = {
	[VERDICT_TEXT] = { "text", judge_text },
	[VERDICT_JSON] = { "json", judge_json },
	[VERDICT_JUNIT] = { "junit", judge_junit },
	[VERDICT_OPENMETRICS] = { "openmetrics", judge_openmetrics },
	[VERDICT_TEXTFILE] = { "textfile", judge_textfile },
	[VERDICT_HTML] = { "html", write_page },
};

enum verdict_form verdict_form_of(const char *name)
{
	enum verdict_form form = 0;

	while (form < VERDICT_FORMS && strcmp(forms[form].name, name))
		form++;
	return form;
}

static int write_to(const struct judge *judge, enum verdict_form form,
		    const struct judge_output *how, FILE *out)
{
	struct judge_output own = *how;
	struct winsize size;

	if (isatty(fileno(out))) {
		own.colour = !getenv("NO_COLOR");
		if (!ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col >= LEAST_WIDTH)
			own.width = size.ws_col;
	}
	return forms[form].write(judge, &own, out);
}

struct verdict_output {
	const struct judge *judge;
	enum verdict_form form;
	const struct judge_output *how;
};

static int put(void *arg, FILE *out)
{
	const struct verdict_output *writing = arg;

	return write_to(writing->judge, writing->form, writing->how, out);
}

int verdict_write(const struct judge *judge, enum verdict_form form, const char *path,
		  const struct judge_output *how)
{
	struct verdict_output writing = { judge, form, how };
	/* a monitor, which is another user, reads these */
	bool metrics = form == VERDICT_TEXTFILE || form == VERDICT_OPENMETRICS;
	int err = output_write(path, metrics ? NEWFILE_PUBLIC : NEWFILE_PRIVATE, put, &writing);

	if (err)
		log_error("%s: %s", output_name(path), newfile_why(err));
	return err;
}

/* ---- drains ---- */

/* out: where its standard output goes; -1: to ours. */
static int start_words(char *const words[], int out, pid_t *child)
{
	posix_spawn_file_actions_t actions;
	int err;

	posix_spawn_file_actions_init(&actions);
	if (out >= 0)
		posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	err = posix_spawnp(child, words[0], &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (err)
		log_error("%s: %s: is it in PATH", words[0], strerror(err));
	return -err;
}

static int end_words(char *const words[], pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	log_error("%s %s %s: failed", words[0], words[1], words[2]);
	return -EIO;
}

static int run_words(char *const words[])
{
	pid_t child;
	int err = start_words(words, -1, &child);

	return err ? err : end_words(words, child);
}

/* ---- who has a reason already ---- */

/* The nodes to be drained that have no reason yet. sinfo prints a line for each partition of a
 * node. */
struct sinfo_answers {
	const struct drain *drain;
	bool *answered;
	texts free; /* names of the drain's */
};

/*
 * Takes a line "n1|drained|disk is full"; a node that has a reason keeps it. Other lines that sinfo
 * may print do not name a node.
 */
static void take_line(char *line, struct sinfo_answers *answers)
{
	const char *name, *state, *reason;
	size_t i = 0;

	line[strcspn(line, "\n")] = '\0';
	name = strsep(&line, "|");
	state = strsep(&line, "|");
	reason = line;
	while (i < answers->drain->count && strcmp(answers->drain->names[i], name) != 0)
		i++;
	if (i == answers->drain->count || !reason || answers->answered[i])
		return;
	answers->answered[i] = true;
	if (!strcmp(reason, "none"))
		vec_push(&answers->free, answers->drain->names[i]);
	else
		log_warn("%s is already %s, and stays unchanged: %s", name, state, reason);
}

static int all_answered(const struct sinfo_answers *answers)
{
	int err = 0;

	for (size_t i = 0; i < answers->drain->count; i++) {
		if (answers->answered[i])
			continue;
		log_error("sinfo does not have the state of %s: it is not drained",
			  answers->drain->names[i]);
		err = -ENOENT;
	}
	return err;
}

static int find_free(struct sinfo_answers *answers)
{
	static char sinfo[] = "sinfo", plain[] = "--noheader", each[] = "--Node",
		    format[] = "--format=%N|%T|%E", of[] = "--nodes";
	char *words[] = { sinfo, plain, each, format, of, answers->drain->nodes, NULL };
	int ends[2], err;
	char *line = NULL;
	size_t room = 0;
	pid_t child;
	FILE *in;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	err = start_words(words, ends[1], &child);
	close(ends[1]);
	in = fdopen(ends[0], "r");
	if (!in)
		alloc_failed();
	while (!err && xgetline(&line, &room, in) > 0)
		take_line(line, answers);
	fclose(in);
	free(line);
	return err ? err : end_words(words, child);
}

/* ---- */

static int drain_nodes(const struct drain *drain)
{
	char *words[DRAIN_WORDS + 1];
	int err;

	drain_command(drain, words);
	err = run_words(words);
	if (!err)
		log_warn("drained %s: %s", drain->nodes, drain->reason);
	for (char **word = words; *word; word++)
		free(*word);
	return err;
}

static int apply_drain(const struct drain *drain)
{
	struct sinfo_answers answers = { .drain = drain,
					 .answered = xcalloc(drain->count, sizeof(bool)) };
	int err = find_free(&answers), unknown = err ? 0 : all_answered(&answers);

	if (!err && answers.free.len) {
		struct drain left = *drain;

		left.nodes = fold_names(answers.free.data, answers.free.len);
		err = drain_nodes(&left);
		free(left.nodes);
	}
	free(answers.answered);
	vec_release(&answers.free);
	return err ? err : unknown;
}

int apply_drains(const struct judge *judge)
{
	struct drains drains;
	int err = 0;

	drains_make(&drains, judge);
	if (!drains_allowed(&drains)) {
		log_error("nothing is drained: %zu nodes are more than the %zu of act.max_drain",
			  drains.nodes, drains.most);
		err = -EDQUOT;
	}
	for (size_t i = 0; i < drains.list.len && drains_allowed(&drains); i++) {
		int failed = apply_drain(&drains.list.data[i]);

		err = err ? err : failed;
	}
	drains_release(&drains);
	return err;
}
