// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/top/views.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "cmd/trace/capture_name.h"

#define SECONDS 10
#define END_MS 60000 /* to gather the captures */

/* Names of the nodes whose views are current, comma-separated; the caller frees it. NULL: none. */
static char *names_of(const struct views *views, size_t *count)
{
	char *names = NULL;

	*count = 0;
	for (size_t i = 0; i < views->list.len; i++) {
		char *before = names;

		if (!view_is_current(views, i))
			continue;
		names = xasprintf("%s%s%s", before ? before : "", before ? "," : "",
				  views->remotes.list.data[i].node);
		free(before);
		++*count;
	}
	return names;
}

/* The capture reaches the nodes in the same way as this command. */
static void attach_words(const struct views *views, const char *names, struct command *words)
{
	const struct nodes_arguments *arguments = views->top->arguments;

	command_add(words, "/proc/self/exe");
	command_split(words, "attach --quiet --all-nodes");
	command_add(words, "--duration=%d", SECONDS);
	command_add(words, "--output=%s", views->writing.folder);
	command_add(words, "--launcher=%s", views->nodes->launch.launcher->name);
	command_add(words, "--nodelist=%s", names);
	command_add(words, "--answer=%.6fs", arguments->answer_s);
	if (arguments->rsh)
		command_add(words, "--rsh=%s", arguments->rsh);
	if (arguments->program)
		command_add(words, "--ucxbpf=%s", arguments->program);
	if (views->top->budget)
		command_add(words, "%s", views->top->budget);
	if (views->top->job)
		command_add(words, "--job=%s", views->top->job);
	else
		command_add(words, "--all");
}

static void forget(struct nodes_writing *writing)
{
	if (writing->log)
		unlink(writing->log);
	free(writing->log);
	free(writing->folder);
	*writing = (struct nodes_writing){ .child = CHILD_NONE };
}

void writing_begin(struct views *views)
{
	struct nodes_writing *writing = &views->writing;
	struct command words = { 0 };
	size_t nodes;
	char *names;
	int err;

	if (writing->folder)
		return;
	names = names_of(views, &nodes);
	if (!names) {
		views_note(views, "no node has a view to write a capture beside");
		return;
	}
	writing->folder = capture_name("top.%t");
	writing->log = xasprintf("%s/write", views->temporary);
	attach_words(views, names, &words);
	free(names);
	err = child_start(&writing->child, &words, writing->log, false);
	command_release(&words);
	if (err) {
		views_note(views, "no capture can be written: %s", strerror(-err));
		forget(writing);
		return;
	}
	views_note(views, "writing %d s of %zu node%s to %s", SECONDS, nodes, nodes == 1 ? "" : "s",
		   writing->folder);
}

/* The last line of its output, which has the reason of a failure; the caller frees it. */
static char *said(const struct nodes_writing *writing)
{
	static const char *const before[] = { "ucxbpf: error: ", "ucxbpf: warning: " };
	FILE *in = fopen(writing->log, "re");
	char *line = NULL, *last = NULL;
	size_t room = 0;

	while (in && xgetline(&line, &room, in) > 0) {
		const char *from = line;

		line[strcspn(line, "\r\n")] = '\0';
		for (size_t i = 0; i < ARRAY_SIZE(before); i++)
			if (!strncmp(from, before[i], strlen(before[i])))
				from += strlen(before[i]);
		if (!*from)
			continue;
		free(last);
		last = xstrdup(from);
	}
	if (in)
		fclose(in);
	free(line);
	return last ? last : xstrdup("it gave no reason");
}

/* The result in one line; the caller frees it. */
static char *result(const struct nodes_writing *writing)
{
	char *why = said(writing), *text;

	if (writing->child.status == UCXBPF_EXIT_OK)
		text = xasprintf("%s is written: ucxbpf replay %s/*.ucxb", writing->folder,
				 writing->folder);
	else
		text = xasprintf("%s %s: %s", writing->folder,
				 writing->child.status == UCXBPF_EXIT_PARTIAL ? "is not whole"
									      : "is not written",
				 why);
	free(why);
	return text;
}

void writing_step(struct views *views)
{
	struct nodes_writing *writing = &views->writing;
	char *text;

	if (!writing->folder || !child_ended(&writing->child))
		return;
	text = result(writing);
	views_note(views, "%s", text);
	free(text);
	forget(writing);
}

void writing_end(struct views *views)
{
	struct nodes_writing *writing = &views->writing;
	char *text;

	if (!writing->folder)
		return;
	if (!child_ended(&writing->child)) {
		kill(writing->child.pid, SIGINT);
		if (!child_wait(&writing->child, END_MS))
			child_end(&writing->child, 0);
	}
	text = result(writing);
	if (writing->child.status == UCXBPF_EXIT_OK)
		fprintf(stderr, "%s\n", text);
	else
		log_warn("%s", text);
	free(text);
	forget(writing);
}
