// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/live/reader.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "base/peer.h"
#include "cmd/trace/temporary.h"
#include "explain/analysis/analysis.h"
#include "file/file.h"

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

int reader_say(int fd, char byte)
{
	return send(fd, &byte, 1, MSG_NOSIGNAL) < 0 ? READER_STATUS(UCXBPF_EXIT_OK) : 0;
}

int reader_take(int fd, const struct reader_options *options, struct live *live,
		struct reader_message *message)
{
	if (recv(fd, message, sizeof(*message), 0) != sizeof(*message))
		return READER_STATUS(UCXBPF_EXIT_OK);
	if (message->quiet) {
		live_begin(live, &message->tracer);
		live_end(live, NULL);
	} else if (read_interval(live, options, &message->tracer))
		return READER_STATUS(UCXBPF_EXIT_FAILED);
	return reader_say(fd, READER_DONE);
}

static int show(const struct reader_options *options, int fd)
{
	int status;

	/* the tracer handles these, and ends the reader in order */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTSTP, SIG_IGN);
	alloc_json();
	status = options->show(options->arg, fd, options);
	reader_clean(options);
	fflush(NULL);
	return status;
}

/* ---- the tracer's side ---- */

int reader_prepare(struct reader_options *options, const char *name)
{
	int err;

	options->folder = temporary_folder(name, &err);
	if (!options->folder)
		return err;
	options->capture = xasprintf("%s/objects.ucxb", options->folder);
	options->interval = xasprintf("%s/interval.ucxb", options->folder);
	return 0;
}

void reader_clean(const struct reader_options *options)
{
	char *trimmed = xasprintf("%s" FILE_TRIMMED, options->capture);

	unlink(trimmed);
	free(trimmed);
	unlink(options->capture);
	unlink(options->interval);
	rmdir(options->folder);
}

void reader_release(struct reader_options *options)
{
	free(options->capture);
	free(options->interval);
	free(options->folder);
}

int reader_start(struct live_reader *reader, const struct reader_options *options)
{
	const struct sigaction waits = { .sa_handler = SIG_DFL };

	/* if this was ignored, the kernel would not keep the reader's status */
	sigaction(SIGCHLD, &waits, NULL);
	fflush(NULL);
	reader->has_terminal = options->terminal && !tcgetattr(STDIN_FILENO, &reader->terminal);
	reader->fd = peer_fork(SOCK_SEQPACKET, &reader->pid);
	if (reader->fd < 0) {
		log_error("cannot start a reader: %s", strerror(-reader->fd));
		return reader->fd;
	}
	if (!reader->pid)
		_exit(show(options, reader->fd));
	return 0;
}

int reader_send(const struct live_reader *reader, const struct reader_message *message)
{
	return send(reader->fd, message, sizeof(*message), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int reader_ask(const struct live_reader *reader)
{
	char byte;
	ssize_t got = recv(reader->fd, &byte, 1, MSG_DONTWAIT);

	if (got > 0)
		return byte;
	return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : READER_QUIT;
}

/* A reader that was killed has left the terminal as a screen. */
static void restore(const struct live_reader *reader)
{
	static const char plain[] = "\033[?1049l\033[?1l\033>\033[?25h\033[0m\r\n";

	if (!reader->has_terminal)
		return;
	tcsetattr(STDIN_FILENO, TCSANOW, &reader->terminal);
	if (write(STDOUT_FILENO, plain, sizeof(plain) - 1) < 0)
		log_debug("the terminal cannot be restored: %s", strerror(errno));
}

#define END_MS 10000

/* Kills a reader that does not end: it may wait for a disk or a terminal for ever. */
static void hurry(const struct live_reader *reader)
{
	struct pollfd end = { .fd = (int)syscall(SYS_pidfd_open, reader->pid, 0),
			      .events = POLLIN };

	if (end.fd < 0)
		return;
	if (!poll(&end, 1, END_MS)) {
		log_warn("the reader of the view does not end: it is killed");
		kill(reader->pid, SIGKILL);
	}
	close(end.fd);
}

int reader_end(struct live_reader *reader)
{
	int status;

	close(reader->fd);
	hurry(reader);
	while (waitpid(reader->pid, &status, 0) < 0)
		if (errno != EINTR)
			return UCXBPF_EXIT_FAILED;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	restore(reader);
	log_error("the reader of the view ended by signal %d", WTERMSIG(status));
	return UCXBPF_EXIT_FAILED;
}
