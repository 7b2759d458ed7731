// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/top/reader.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/confine.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "explain/analysis/analysis.h"
#include "cmd/top/nics.h"
#include "show/top/top.h"

void reader_clean(const struct reader_options *options)
{
	unlink(options->capture);
	unlink(options->interval);
	rmdir(options->folder);
}

/* ---- the reader ---- */

static int read_interval(struct live *live, const struct reader_options *options,
			 const struct live_tracer *tracer)
{
	const struct fact_sink sink = live_sink(live);
	struct analysis *analysis = analysis_new();
	struct fact_totals totals = { 0 };
	const char *why = "";
	int err = analysis_add_interval(analysis, options->capture, options->interval, &why);

	if (err)
		log_error("cannot read '%s' back: %s", options->capture,
			  *why ? why : strerror(-err));
	if (!err) {
		live_begin(live, tracer);
		err = analysis_run(analysis, &sink, &totals);
		live_end(live, &totals);
	}
	analysis_free(analysis);
	return err;
}

static int unwritten(int err)
{
	if (err == -EPIPE)
		return UCXBPF_EXIT_OK;
	log_error("standard output: %s", strerror(-err));
	return exit_unwritten("top", err);
}

/* A view, and where it is shown. */
struct top_view {
	const struct reader_options *options;
	int fd; /* of the tracer */
	struct live *live;
	struct node_nics node;
	struct top_screen *screen; /* NULL: not open yet, or JSON */
};

/* 0; or an exit status, negated: that ends the reader. */
static int show(struct top_view *view, const struct reader_message *message)
{
	int err;

	if (view->options->json) {
		err = top_json(view->live, &view->node.nics, stdout);
		return err ? -1 - unwritten(err) : 0;
	}
	if (!view->screen)
		view->screen = top_screen_open();
	if (!view->screen) {
		log_error("standard output is no terminal that a screen fits on: use --json");
		return -1 - UCXBPF_EXIT_USAGE;
	}
	top_screen_show(view->screen, view->live, &view->node.nics, message->note);
	return 0;
}

static int say(const struct top_view *view, char byte)
{
	return send(view->fd, &byte, 1, MSG_NOSIGNAL) < 0 ? -1 - UCXBPF_EXIT_OK : 0;
}

static int take_message(struct top_view *view)
{
	struct reader_message message;
	int err;

	if (recv(view->fd, &message, sizeof(message), 0) != sizeof(message))
		return -1 - UCXBPF_EXIT_OK;
	if (read_interval(view->live, view->options, &message.tracer))
		return -1 - UCXBPF_EXIT_FAILED;
	err = say(view, READER_DONE);
	if (err)
		return err;
	node_nics_read(&view->node, view->live);
	return show(view, &message);
}

static int take_keys(struct top_view *view)
{
	switch (top_screen_keys(view->screen)) {
	case TOP_QUIT:
		return -1 - UCXBPF_EXIT_OK;
	case TOP_WRITE:
		return say(view, READER_WRITE);
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
			end = -1 - UCXBPF_EXIT_OK;
		if (!end && polls[0].revents)
			end = take_message(view);
		polls[0].revents = polls[1].revents = 0;
	}
	return -1 - end;
}

static int print_all(const struct reader_options *options, int fd)
{
	struct top_view view = { .options = options, .fd = fd, .live = live_new() };
	int status = read_on(&view);

	top_screen_close(view.screen);
	node_nics_release(&view.node);
	live_free(view.live);
	reader_clean(options);
	return status;
}

static int read_all(const struct reader_options *options, int fd)
{
	/* the tracer takes these, and ends the reader in order */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTSTP, SIG_IGN);
	alloc_json();
	confine_to_files();
	return print_all(options, fd);
}

/* ---- the tracer's side ---- */

int reader_start(struct top_reader *reader, const struct reader_options *options)
{
	const struct sigaction waits = { .sa_handler = SIG_DFL };
	int ends[2], status;

	/* a parent that ignored it would have its children forgotten */
	sigaction(SIGCHLD, &waits, NULL);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		log_error("cannot start a reader: %s", strerror(errno));
		return -errno;
	}
	fflush(NULL);
	reader->has_terminal = !options->json && !tcgetattr(STDIN_FILENO, &reader->terminal);
	reader->pid = fork();
	if (reader->pid < 0) {
		log_error("cannot start a reader: %s", strerror(errno));
		close(ends[0]);
		close(ends[1]);
		return -EAGAIN;
	}
	if (!reader->pid) {
		close(ends[0]);
		status = read_all(options, ends[1]);
		fflush(NULL);
		_exit(status);
	}
	close(ends[1]);
	reader->fd = ends[0];
	return 0;
}

int reader_tell(const struct top_reader *reader, const struct reader_message *message)
{
	return send(reader->fd, message, sizeof(*message), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int reader_ask(const struct top_reader *reader)
{
	char byte;
	ssize_t got = recv(reader->fd, &byte, 1, MSG_DONTWAIT);

	if (got > 0)
		return byte;
	return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : READER_QUIT;
}

/* A reader that was killed has left the terminal as a screen. */
static void restore(const struct top_reader *reader)
{
	static const char plain[] = "\033[?1049l\033[?1l\033>\033[?25h\033[0m\r\n";

	if (!reader->has_terminal)
		return;
	tcsetattr(STDIN_FILENO, TCSANOW, &reader->terminal);
	if (write(STDOUT_FILENO, plain, sizeof(plain) - 1) < 0)
		log_debug("the terminal cannot be restored: %s", strerror(errno));
}

int reader_end(struct top_reader *reader)
{
	int status;

	close(reader->fd);
	while (waitpid(reader->pid, &status, 0) < 0)
		if (errno != EINTR)
			return UCXBPF_EXIT_FAILED;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	restore(reader);
	log_error("the reader of the view ended by signal %d", WTERMSIG(status));
	return UCXBPF_EXIT_FAILED;
}
