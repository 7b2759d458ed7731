// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/output/apply_drains.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lists.h"
#include "base/log.h"
#include "site/judge/verdict/drain.h"

/* out: where its standard output goes; -1: to ours. */
static int start(char *const words[], int out, pid_t *child)
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

static int end(char *const words[], pid_t child)
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

static int run(char *const words[])
{
	pid_t child;
	int err = start(words, -1, &child);

	return err ? err : end(words, child);
}

/* ---- who has a reason already ---- */

/* "n1|drained|disk is full"; one that has a reason keeps it. */
static void take_line(char *line, texts *nodes)
{
	const char *name, *state, *reason;

	line[strcspn(line, "\n")] = '\0';
	name = strsep(&line, "|");
	state = strsep(&line, "|");
	reason = line ? line : "none";
	if (!strcmp(reason, "none"))
		vec_push(nodes, strdup(name));
	else
		log_warn("%s is %s already, and stays so: %s", name, state, reason);
}

/* Those of a list that have none. */
static int find_free(const char *list, texts *nodes)
{
	static char sinfo[] = "sinfo", plain[] = "--noheader", each[] = "--Node",
		    format[] = "--format=%N|%T|%E", of[] = "--nodes";
	char *words[] = { sinfo, plain, each, format, of, (char *)list, NULL };
	int ends[2], err;
	char *line = NULL;
	size_t room = 0;
	pid_t child;
	FILE *in;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	err = start(words, ends[1], &child);
	close(ends[1]);
	in = fdopen(ends[0], "r");
	while (!err && getline(&line, &room, in) > 0)
		take_line(line, nodes);
	fclose(in);
	free(line);
	return err ? err : end(words, child);
}

/* ---- */

static int drain_nodes(const struct drain *drain)
{
	char *words[DRAIN_WORDS + 1];
	int err;

	drain_command(drain, words);
	err = run(words);
	if (!err)
		log_warn("drained %s: %s", drain->nodes, drain->reason);
	for (char **word = words; *word; word++)
		free(*word);
	return err;
}

static int apply(const struct drain *drain)
{
	texts nodes = { 0 };
	int err = find_free(drain->nodes, &nodes);

	if (!err && nodes.len) {
		struct drain left = *drain;

		left.nodes = fold_names(nodes.data, nodes.len);
		err = drain_nodes(&left);
		free(left.nodes);
	}
	for (size_t i = 0; i < nodes.len; i++)
		free((char *)nodes.data[i]);
	vec_release(&nodes);
	return err;
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
		int failed = apply(&drains.list.data[i]);

		err = err ? err : failed;
	}
	drains_release(&drains);
	return err;
}
