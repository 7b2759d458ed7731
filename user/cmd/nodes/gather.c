// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/nodes/gather.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "base/newfile.h"
#include "base/signals.h"
#include "cmd/cmds.h"
#include "cmd/nodes/folder.h"
#include "cmd/nodes/remote.h"
#include "cmd/nodes/send.h"
#include "cmd/trace/ready.h"

/* A node's capture, as it comes. */
struct node_capture {
	bool ready; /* its records have begun */
	int file; /* its capture here; -1: not open */
	uint64_t size, got; /* bytes of it; size 0: it has not begun to come */
	char *path;
};

struct gatherer {
	const struct gathering *gathering;
	char *folder;
	struct remotes remotes;
	VEC(struct node_capture) captures; /* in their order */
	int err; /* ends everything: a capture could not be written here (printed) */
};

/* ---- what nodes say ---- */

static void begin_capture(struct gatherer *gatherer, struct node_capture *capture, const char *size)
{
	capture->size = strtoull(size, NULL, 10);
	capture->file = open(capture->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (capture->file < 0) {
		gatherer->err = -errno;
		log_error("%s: %s", capture->path, newfile_why(-errno));
		return;
	}
	newfile_hand_over(capture->file, 0600);
}

static void heard_line(struct gatherer *gatherer, struct node_capture *capture, const char *line)
{
	if (!strcmp(line, SEND_READY))
		capture->ready = true;
	else if (!strncmp(line, SEND_CAPTURE, strlen(SEND_CAPTURE)) && capture->ready)
		begin_capture(gatherer, capture, line + strlen(SEND_CAPTURE));
}

static void keep(struct gatherer *gatherer, struct node_capture *capture, const char *data,
		 size_t size)
{
	while (size) {
		ssize_t n = write(capture->file, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			gatherer->err = -errno;
			log_error("%s: %s", capture->path, strerror(errno));
			return;
		}
		data += n;
		size -= (size_t)n;
		capture->got += (uint64_t)n;
	}
}

/* A node may send as much as it has announced. */
static void keep_announced(struct gatherer *gatherer, size_t which, const char *data, size_t size)
{
	struct node_capture *capture = &gatherer->captures.data[which];
	struct remote *remote = &gatherer->remotes.list.data[which];
	const uint64_t left = capture->size - capture->got;

	keep(gatherer, capture, data, size < left ? size : (size_t)left);
	if (size <= left)
		return;
	remote_fail(remote, "sent more than it had announced");
	remote_give_up(remote);
}

/* Lines; the bytes of the capture follow the line that announces it. */
static void heard(void *arg, size_t which, const char *data, size_t size)
{
	struct gatherer *gatherer = arg;
	struct node_capture *capture = &gatherer->captures.data[which];
	const char *line;

	while (capture->file < 0 && !gatherer->err &&
	       (line = remote_line(&gatherer->remotes.list.data[which], &data, &size)))
		heard_line(gatherer, capture, line);
	if (capture->file >= 0 && !gatherer->err)
		keep_announced(gatherer, which, data, size);
}

/* ---- their beginning and their end ---- */

/* After the last output of a node: whether its capture is whole. */
static void judge_end(struct remote *remote, const struct node_capture *capture)
{
	char *said = remote_said(remote);

	if (!capture->ready)
		remote_fail(remote, "not traced: %s", said);
	else if (capture->file < 0)
		remote_fail(remote, "its capture did not come: %s", said);
	else if (capture->got < capture->size)
		remote_fail(remote, "its capture is cut short, %llu of %llu bytes came: %s",
			    (unsigned long long)capture->got, (unsigned long long)capture->size,
			    said);
	free(said);
}

static size_t count_ready(const struct gatherer *gatherer)
{
	size_t count = 0;

	for (size_t i = 0; i < gatherer->captures.len; i++)
		count += gatherer->captures.data[i].ready;
	return count;
}

static void progress(const struct gatherer *gatherer, const char *what)
{
	if (gatherer->gathering->quiet || !isatty(STDERR_FILENO))
		return;
	if (what)
		fprintf(stderr, "\r%s  nodes %zu: traced %zu, done %zu\033[K", what,
			gatherer->captures.len, count_ready(gatherer),
			remotes_over(&gatherer->remotes));
	else
		fputs("\r\033[K", stderr);
}

static bool goes_on(const struct gatherer *gatherer)
{
	return !gatherer->err && remotes_over(&gatherer->remotes) < gatherer->captures.len;
}

/* Whether some node is neither traced nor past that. */
static bool begins(const struct gatherer *gatherer)
{
	for (size_t i = 0; i < gatherer->captures.len; i++)
		if (!gatherer->captures.data[i].ready && !gatherer->remotes.list.data[i].over)
			return true;
	return false;
}

/* Waits until each node is traced; gives up one that takes too long. */
static void trace_begin(struct gatherer *gatherer)
{
	const double answer_s = gatherer->gathering->arguments->answer_s;
	const uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);

	while (goes_on(gatherer) && begins(gatherer) && !gatherer->remotes.interrupted &&
	       clock_ns(CLOCK_MONOTONIC) - start_ns < answer_s * 1e9) {
		progress(gatherer, "attaching");
		remotes_listen(&gatherer->remotes, heard, gatherer);
	}
	for (size_t i = 0; i < gatherer->captures.len; i++) {
		struct remote *remote = &gatherer->remotes.list.data[i];

		if (gatherer->captures.data[i].ready || remote->over)
			continue;
		if (gatherer->remotes.interrupted)
			remote_fail(remote, "not traced: interrupted before it was");
		else
			remote_fail(remote, "not traced: no answer within %g s (--answer)",
				    answer_s);
		remote_give_up(remote);
	}
}

static void trace_on(struct gatherer *gatherer)
{
	const uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
	const double seconds = gatherer->gathering->seconds;

	while (goes_on(gatherer) && !gatherer->remotes.interrupted &&
	       (!(seconds > 0) || clock_ns(CLOCK_MONOTONIC) - start_ns < seconds * 1e9)) {
		progress(gatherer, "tracing");
		remotes_listen(&gatherer->remotes, heard, gatherer);
	}
}

/* A node has so long for its end, and for each part of its capture. */
static void trace_end(struct gatherer *gatherer)
{
	const double answer_s = gatherer->gathering->arguments->answer_s;
	const uint64_t asked = clock_ns(CLOCK_MONOTONIC);

	signals_finish(gatherer->remotes.interrupted);
	remotes_finish(&gatherer->remotes);
	while (goes_on(gatherer)) {
		const uint64_t now = clock_ns(CLOCK_MONOTONIC);

		progress(gatherer, "gathering");
		remotes_listen(&gatherer->remotes, heard, gatherer);
		for (size_t i = 0; i < gatherer->remotes.list.len; i++) {
			struct remote *remote = &gatherer->remotes.list.data[i];
			uint64_t since = remote->heard > asked ? remote->heard : asked;

			if (remote->over || now < since || now - since < answer_s * 1e9)
				continue;
			remote_fail(remote, "its capture did not come within %g s (--answer)",
				    answer_s);
			remote_give_up(remote);
		}
	}
}

static void end(struct gatherer *gatherer)
{
	remotes_end(&gatherer->remotes);
	for (size_t i = 0; i < gatherer->captures.len; i++) {
		const struct node_capture *capture = &gatherer->captures.data[i];

		if (capture->file >= 0 && close(capture->file) && !gatherer->err) {
			gatherer->err = -errno;
			log_error("%s: %s", capture->path, strerror(errno));
		}
		judge_end(&gatherer->remotes.list.data[i], capture);
	}
	progress(gatherer, NULL);
}

/* ---- its result ---- */

/* Reports as replay does, in a process that becomes replay and has no right to trace. */
static int report(const struct gatherer *gatherer)
{
	VEC(char *) words = { 0 };
	char name[] = "ucxbpf replay", end_of_options[] = "--";
	int status;

	vec_push(&words, name);
	vec_push(&words, end_of_options);
	for (size_t i = 0; i < gatherer->captures.len; i++)
		if (gatherer->captures.data[i].got)
			vec_push(&words, gatherer->captures.data[i].path);
	vec_push(&words, NULL);
	status = cmd_replay((int)words.len - 1, words.data);
	vec_release(&words);
	return status;
}

static int result(const struct gatherer *gatherer)
{
	size_t whole = 0, some = 0;
	int status = UCXBPF_EXIT_OK;

	for (size_t i = 0; i < gatherer->captures.len; i++) {
		remote_explain(&gatherer->remotes.list.data[i]);
		whole += !gatherer->remotes.list.data[i].why;
		some += gatherer->captures.data[i].got > 0;
	}
	if (gatherer->err)
		return exit_unwritten("attach", gatherer->err);
	if (!some) {
		log_error("no node was traced");
		return remotes_status(&gatherer->remotes);
	}
	if (!gatherer->gathering->quiet) {
		status = report(gatherer);
		fflush(stdout);
		fprintf(stderr,
			"\ncaptures of %zu of %zu nodes in %s; the same again: "
			"ucxbpf replay %s/*.ucxb\n",
			some, gatherer->captures.len, gatherer->folder, gatherer->folder);
	}
	return status == UCXBPF_EXIT_OK && whole < gatherer->captures.len ? UCXBPF_EXIT_PARTIAL
									  : status;
}

static int start(struct gatherer *gatherer, const struct nodes_of_job *nodes)
{
	struct command words = { 0 };
	int err;

	for (size_t i = 0; i < nodes->list.len; i++)
		vec_push(&gatherer->captures,
			 ((struct node_capture){ .file = -1,
						 .path = xasprintf("%s/%s.ucxb", gatherer->folder,
								   nodes->list.data[i].name) }));
	command_split(&words, "attach --send --quiet");
	command_append(&words, gatherer->gathering->options);
	err = remotes_start(&gatherer->remotes, gatherer->gathering->arguments, nodes, &words,
			    gatherer->folder);
	command_release(&words);
	return err;
}

static int trace_nodes(struct gatherer *gatherer, const struct nodes_of_job *nodes)
{
	int status = UCXBPF_EXIT_FAILED;

	if (!start(gatherer, nodes)) {
		trace_begin(gatherer);
		if (!gatherer->err)
			gatherer->err = ready_write(gatherer->gathering->ready);
		trace_on(gatherer);
		trace_end(gatherer);
		end(gatherer);
		status = result(gatherer);
	}
	for (size_t i = 0; i < gatherer->captures.len; i++)
		free(gatherer->captures.data[i].path);
	vec_release(&gatherer->captures);
	remotes_release(&gatherer->remotes);
	return status;
}

int gather_nodes(const struct gathering *gathering)
{
	struct gatherer gatherer = { .gathering = gathering };
	struct nodes_of_job nodes = { 0 };
	int status = UCXBPF_EXIT_USAGE;
	int err = nodes_find(gathering->arguments, gathering->job, &nodes);

	if (err == -ESRCH) {
		status = UCXBPF_EXIT_NO_TARGET;
	} else if (!err) {
		err = ready_check(gathering->ready);
		if (!err)
			err = folder_make(gathering->folder, gathering->job, &gatherer.folder);
		if (!err)
			status = trace_nodes(&gatherer, &nodes);
		else if (err != -EEXIST && err != -ENOTDIR)
			status = exit_unwritten("attach", err);
	}
	free(gatherer.folder);
	nodes_release(&nodes);
	return status;
}
