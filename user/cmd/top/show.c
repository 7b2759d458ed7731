// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/top/show.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "cmd/top/nics.h"
#include "show/top/top.h"

int top_unwritten(int err)
{
	if (err == -EPIPE)
		return UCXBPF_EXIT_OK;
	log_error("standard output: %s", strerror(-err));
	return exit_unwritten("top", err);
}

/* A view, and where it is shown. */
struct top_view {
	bool json;
	const struct reader_options *options;
	int fd; /* of the tracer */
	struct live *live;
	struct node_nics node;
	struct top_screen *screen; /* NULL: not open yet, or JSON */
};

/* 0, or the end of the reader: READER_STATUS(). */
static int show(struct top_view *view, const struct reader_message *message)
{
	struct top_nodes nodes = { 0 };
	int err;

	if (view->json) {
		err = top_json(view->live, &view->node.nics, stdout);
		return err ? READER_STATUS(top_unwritten(err)) : 0;
	}
	if (!view->screen)
		view->screen = top_screen_open();
	if (!view->screen) {
		log_error("standard output is not a terminal, or too small: use --json");
		return READER_STATUS(UCXBPF_EXIT_USAGE);
	}
	vec_push(&nodes.all,
		 ((struct top_node){
			 .state = TOP_RUNNING, .live = view->live, .nics = &view->node.nics }));
	top_screen_show(view->screen, &nodes, message->note);
	vec_release(&nodes.all);
	return 0;
}

static int take_message(struct top_view *view)
{
	struct reader_message message;
	int end = reader_take(view->fd, view->options, view->live, &message);

	if (end)
		return end;
	node_nics_read(&view->node, view->live);
	return show(view, &message);
}

static int take_keys(struct top_view *view)
{
	switch (top_screen_keys(view->screen)) {
	case TOP_QUIT:
		return READER_STATUS(UCXBPF_EXIT_OK);
	case TOP_WRITE:
		return reader_say(view->fd, READER_WRITE);
	default:
		return 0;
	}
}

/* Until the tracer ends, or a key ends both. */
static int read_on(struct top_view *view)
{
	struct pollfd polls[2] = { { view->fd, POLLIN, 0 }, { -1, POLLIN, 0 } };
	int end = 0;

	while (!end) {
		polls[1].fd = view->screen ? STDIN_FILENO : -1;
		/* a window that changes its size interrupts, and is a key as well */
		if (poll(polls, 2, -1) < 0 && errno != EINTR)
			return UCXBPF_EXIT_FAILED;
		if (view->screen)
			end = take_keys(view);
		/* a terminal that is gone has no keys */
		if (!end && polls[1].revents & (POLLHUP | POLLERR))
			end = READER_STATUS(UCXBPF_EXIT_OK);
		if (!end && polls[0].revents)
			end = take_message(view);
		polls[0].revents = polls[1].revents = 0;
	}
	return READER_STATUS(end);
}

int show_top(void *arg, int fd, const struct reader_options *options)
{
	struct top_view view = {
		.json = *(const bool *)arg, .options = options, .fd = fd, .live = live_new()
	};
	int status;

	confine_to_files();
	status = read_on(&view);
	top_screen_close(view.screen);
	node_nics_release(&view.node);
	live_free(view.live);
	return status;
}
