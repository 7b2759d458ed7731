// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/top/nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/exit_codes.h"
#include "base/signals.h"
#include "cmd/top/show.h"
#include "cmd/top/views.h"
#include "cmd/trace/temporary.h"

/* NULL: the line is something else, such as a shell's greeting. */
static json_t *object_of(const char *line)
{
	json_t *object = json_loads(line, 0, NULL);
	const char *schema = json_string_value(json_object_get(object, "schema"));

	if (schema && !strcmp(schema, TOP_SCHEMA))
		return object;
	json_decref(object);
	return NULL;
}

static void heard(void *arg, size_t which, const char *data, size_t size)
{
	struct views *views = arg;
	struct remote *remote = &views->remotes.list.data[which];
	const char *line;

	while (!views->err && (line = remote_line(remote, &data, &size))) {
		json_t *object = object_of(line);

		if (!object && *line == '{')
			remote_fail(remote, "sent an object that cannot be read");
		if (!views->top->json && remote->why)
			remote_give_up(remote);
		if (!object)
			continue;
		views->list.data[which].objects++;
		if (views->top->json)
			views->err = views_print(views, object, remote->node);
		else
			views_take(views, which, object);
		json_decref(object);
	}
}

/* Reports a view that did not end in order. */
static void report_failed(struct views *views, size_t which)
{
	struct remote *remote = &views->remotes.list.data[which];
	struct node_view *view = &views->list.data[which];
	char *said = remote_said(remote);

	if (remote->line.len && !remote->line_taken && *remote->line.data == '{')
		remote_fail(remote, "the last object that it sent was cut short");
	if (!view->objects)
		remote_fail(remote, "not watched: %s", said);
	else if (remote->child.status != UCXBPF_EXIT_OK &&
		 remote->child.status != UCXBPF_EXIT_PARTIAL)
		remote_fail(remote, "its view has ended: %s", said);
	remote_explain(remote);
	if (remote->why)
		views_note(views, "%s: %s", remote->node, remote->why);
	unlink(remote->log);
	view->told = true;
	free(said);
}

/* Gives up a node that has been silent for too long. */
static void check(struct views *views, size_t which)
{
	struct remote *remote = &views->remotes.list.data[which];
	const double answer_s = views->top->arguments->answer_s;
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	const uint64_t since = remote->heard > views->asked ? remote->heard : views->asked;
	const uint64_t interval = views->finishes ? 0 : views->top->interval;

	if (!remote->over && now - since > answer_s * 1e9 + interval) {
		remote_fail(remote, "%s within %g s (--answer)",
			    views->list.data[which].objects ? "nothing more came"
							    : "not watched: no answer",
			    answer_s);
		remote_give_up(remote);
	}
	if (remote->over && !views->list.data[which].told &&
	    (remote->why || child_ended(&remote->child)))
		report_failed(views, which);
}

/* Runs until all views have ended. After a signal they may still send their last objects. */
static void follow(struct views *views)
{
	while (!views->err && remotes_over(&views->remotes) < views->list.len) {
		remotes_listen(&views->remotes, heard, views);
		views_show(views);
		if (views->remotes.interrupted && !views->finishes) {
			views->finishes = true;
			views->asked = clock_ns(CLOCK_MONOTONIC);
			views_close(views);
			remotes_finish(&views->remotes);
			signals_finish(true);
		}
		for (size_t i = 0; i < views->list.len; i++)
			check(views, i);
	}
}

static int result(const struct views *views)
{
	bool some = false, all = true;

	for (size_t i = 0; i < views->list.len; i++) {
		const struct remote *remote = &views->remotes.list.data[i];

		some = some || views->list.data[i].objects;
		all = all && !remote->why && remote->child.status == UCXBPF_EXIT_OK;
	}
	if (views->err == -ENOTTY)
		return UCXBPF_EXIT_USAGE;
	if (views->err == -ECANCELED)
		return UCXBPF_EXIT_PARTIAL;
	if (views->err)
		return top_unwritten(views->err);
	if (!some)
		return remotes_status(&views->remotes);
	return all ? UCXBPF_EXIT_OK : UCXBPF_EXIT_PARTIAL;
}

static int view_nodes(struct views *views, const struct nodes_of_job *nodes)
{
	struct command words = { 0 };
	int status = UCXBPF_EXIT_FAILED, err;
	char *folder = temporary_folder("ucxbpf-top", &err);

	if (!folder)
		return status;
	views->nodes = nodes;
	views->temporary = folder;
	for (size_t i = 0; i < nodes->list.len; i++)
		vec_add(&views->list);
	command_split(&words, "top --send --json");
	command_append(&words, views->top->options);
	views->asked = clock_ns(CLOCK_MONOTONIC);
	if (!remotes_start(&views->remotes, views->top->arguments, nodes, &words, folder)) {
		follow(views);
		views_close(views);
		writing_end(views);
		remotes_end(&views->remotes);
		for (size_t i = 0; i < views->list.len; i++)
			if (!views->list.data[i].told && !views->err)
				report_failed(views, i);
		status = result(views);
	}
	for (size_t i = 0; i < views->remotes.list.len; i++)
		unlink(views->remotes.list.data[i].log);
	rmdir(folder);
	free(folder);
	command_release(&words);
	remotes_release(&views->remotes);
	vec_release(&views->list);
	return status;
}

int top_everywhere(const struct nodes_top *top)
{
	struct views views = { .top = top,
			       .aside = ASIDE_NONE,
			       .writing = { .child = CHILD_NONE } };
	struct nodes_of_job found = { 0 };
	int err = nodes_find(top->arguments, top->job, &found);
	int status = err == -ESRCH ? UCXBPF_EXIT_NO_TARGET : UCXBPF_EXIT_USAGE;

	alloc_json();
	if (!err)
		status = view_nodes(&views, &found);
	nodes_release(&found);
	return status;
}
