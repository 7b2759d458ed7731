// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/top/reader.h"

#include <errno.h>
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
#include "show/top/top.h"

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

static int print_all(const struct reader_options *options, int fd)
{
	struct live *live = live_new();
	struct reader_message message;
	int status = UCXBPF_EXIT_OK, err;

	while (recv(fd, &message, sizeof(message), 0) == sizeof(message)) {
		const char done = READER_DONE;

		err = read_interval(live, options, &message.tracer);
		if (err) {
			status = UCXBPF_EXIT_FAILED;
			break;
		}
		if (send(fd, &done, 1, MSG_NOSIGNAL) < 0)
			break;
		err = top_json(live, stdout);
		if (err) {
			status = unwritten(err);
			break;
		}
	}
	live_free(live);
	return status;
}

static int read_all(const struct reader_options *options, int fd)
{
	/* the tracer takes these, and ends the reader in order */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	alloc_json();
	confine_to_files();
	return print_all(options, fd);
}

/* ---- the tracer's side ---- */

int reader_start(struct reader *reader, const struct reader_options *options)
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

int reader_tell(const struct reader *reader, const struct reader_message *message)
{
	return send(reader->fd, message, sizeof(*message), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int reader_ask(const struct reader *reader)
{
	char byte;
	ssize_t got = recv(reader->fd, &byte, 1, MSG_DONTWAIT);

	if (got > 0)
		return byte;
	return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : READER_QUIT;
}

int reader_end(struct reader *reader)
{
	int status;

	close(reader->fd);
	while (waitpid(reader->pid, &status, 0) < 0)
		if (errno != EINTR)
			return UCXBPF_EXIT_FAILED;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	log_error("the reader of the view ended by signal %d", WTERMSIG(status));
	return UCXBPF_EXIT_FAILED;
}
