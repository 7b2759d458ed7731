// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/top/views.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"

#define SECOND 1000000000ull
#define OPEN_NS SECOND /* so that no screen flashes up if all nodes fail at once */
#define DRAW_LEAST (SECOND / 4) /* combines intervals of nodes that arrive one by one */

static void open_screen(struct views *views)
{
	aside_begin(&views->aside);
	views->screen = top_screen_open();
	if (views->screen) {
		views->remotes.keys = true;
		return;
	}
	aside_end(&views->aside);
	log_error("standard output is no terminal that a screen fits on: use --json");
	views->err = -ENOTTY;
}

void views_take(struct views *views, size_t which, json_t *object)
{
	struct node_view *view = &views->list.data[which];
	struct remote *remote = &views->remotes.list.data[which];
	const char *what;

	if (views->finishes)
		return;
	if (!view->live)
		view->live = live_new();
	if (!top_read(object, view->live, &view->nics, &what)) {
		remote_fail(remote, "sent an object whose \"%s\" cannot be read", what);
		/* the node's totals would lack this interval */
		remote_give_up(remote);
		return;
	}
	json_decref(view->last);
	view->last = json_incref(object);
	view->came = clock_ns(CLOCK_MONOTONIC);
	views->any = views->fresh = true;
}

#define NOTE_NS (15 * SECOND)

void views_note(struct views *views, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(views->note, sizeof(views->note), format, args);
	va_end(args);
	views->noted = clock_ns(CLOCK_MONOTONIC);
	views->fresh = true;
}

/* A node is late if its interval is overdue by more than this, ns: less than --answer allows. */
static uint64_t patience(const struct views *views)
{
	const uint64_t most = (uint64_t)(views->top->arguments->answer_s * SECOND / 2);
	const uint64_t usual = views->top->interval + SECOND;

	return usual < most ? usual : most;
}

static struct top_node node_of(const struct views *views, size_t which, uint64_t now)
{
	const struct remote *remote = &views->remotes.list.data[which];
	const struct node_view *view = &views->list.data[which];
	struct top_node node = {
		.name = remote->node,
		.silent = now - (view->came ? view->came : views->asked),
		.why = remote->why,
		.live = view->live,
		.nics = &view->nics,
	};

	if (remote->why)
		node.state = TOP_FAILED;
	else if (view->told)
		node.state = TOP_ENDED;
	else if (!view->came)
		node.state = TOP_STARTING;
	else if (node.silent > views->top->interval + patience(views))
		node.state = TOP_LATE;
	else
		node.state = TOP_RUNNING;
	return node;
}

bool view_is_current(const struct views *views, size_t which)
{
	return node_of(views, which, clock_ns(CLOCK_MONOTONIC)).state == TOP_RUNNING;
}

static void draw(struct views *views)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct top_nodes nodes = { .named = true };

	for (size_t i = 0; i < views->list.len; i++)
		vec_push(&nodes.all, node_of(views, i, now));
	top_screen_show(views->screen, &nodes, now - views->noted < NOTE_NS ? views->note : NULL);
	vec_release(&nodes.all);
	views->fresh = false;
	views->drawn = now;
}

void views_show(struct views *views)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!views->screen && !views->top->json && !views->finishes &&
	    (views->any || now - views->asked > OPEN_NS))
		open_screen(views);
	if (!views->screen)
		return;
	switch (top_screen_keys(views->screen)) {
	case TOP_QUIT:
		views->remotes.interrupted = true;
		return;
	case TOP_WRITE:
		writing_begin(views);
		break;
	default:
		break;
	}
	writing_step(views);
	if (now - views->drawn > (views->fresh ? DRAW_LEAST : SECOND))
		draw(views);
}

void views_close(struct views *views)
{
	top_screen_close(views->screen);
	if (views->screen)
		aside_end(&views->aside);
	views->screen = NULL;
	views->remotes.keys = false;
	for (size_t i = 0; i < views->list.len; i++) {
		struct node_view *view = &views->list.data[i];

		json_decref(view->last);
		live_free(view->live);
		vec_release(&view->nics.all);
		view->last = NULL;
		view->live = NULL;
	}
}
