// SPDX-License-Identifier: BSD-3-Clause
/* Processes that a sweep starts and ends, and the lines that come from descriptors. */
#include "site/sweep/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"

struct pipes {
	int input[2], output[2];
};

static void become(struct command *command, const char *log, const struct pipes *pipes, bool talk)
{
	int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0644);
	int in = talk ? pipes->input[0] : open("/dev/null", O_RDONLY);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setpgid(0, 0);
	if (out < 0 || in < 0 || dup2(in, 0) < 0 || dup2(talk ? pipes->output[1] : out, 1) < 0 ||
	    dup2(out, 2) < 0)
		_exit(126);
	execvp(command->words.data[0], command_argv(command));
	log_error("cannot run '%s': %s", command->words.data[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static void close_pipe(int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

int child_start(struct child *child, struct command *command, const char *log, bool talk)
{
	struct pipes pipes = { { -1, -1 }, { -1, -1 } };

	*child = CHILD_NONE;
	if (talk && (pipe2(pipes.input, O_CLOEXEC) || pipe2(pipes.output, O_CLOEXEC))) {
		int err = -errno;

		if (pipes.input[0] >= 0)
			close_pipe(pipes.input);
		return err;
	}
	child->pid = fork();
	if (!child->pid)
		become(command, log, &pipes, talk);
	if (child->pid < 0) {
		int err = -errno;

		child->pid = 0;
		if (talk) {
			close_pipe(pipes.input);
			close_pipe(pipes.output);
		}
		return err;
	}
	if (talk) {
		close(pipes.input[0]);
		close(pipes.output[1]);
		child->to = pipes.input[1];
		child->from = pipes.output[0];
		fcntl(child->to, F_SETFL, O_NONBLOCK);
		fcntl(child->from, F_SETFL, O_NONBLOCK);
	}
	return 0;
}

bool child_ended(struct child *child)
{
	int status;

	if (!child->pid)
		return true;
	if (waitpid(child->pid, &status, WNOHANG) != child->pid)
		return false;
	child->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	child->pid = 0;
	return true;
}

#define LOOK_MS 20

bool child_wait(struct child *child, int ms)
{
	for (; ms > 0 && !child_ended(child); ms -= LOOK_MS)
		usleep(LOOK_MS * 1000);
	return child_ended(child);
}

void child_end(struct child *child, int grace_ms)
{
	if (child_ended(child))
		return;
	kill(child->pid, SIGTERM);
	if (!child_wait(child, grace_ms))
		kill(-child->pid, SIGKILL);
	while (!child_ended(child))
		usleep(LOOK_MS * 1000);
}

void child_close(struct child *child)
{
	if (child->to >= 0)
		close(child->to);
	if (child->from >= 0)
		close(child->from);
	child->to = child->from = -1;
}

/* ---- lines ---- */

static void hand_over(struct line_input *lines, void (*each)(void *context, char *line),
		      void *context)
{
	char *start = lines->text, *end;

	while ((end = memchr(start, '\n', lines->text + lines->length - start))) {
		*end = '\0';
		each(context, start);
		start = end + 1;
	}
	lines->length -= start - lines->text;
	memmove(lines->text, start, lines->length);
	if (lines->length == sizeof(lines->text))
		lines->length = 0;
}

bool lines_read(struct line_input *lines, void (*each)(void *context, char *line), void *context)
{
	for (;;) {
		ssize_t got = read(lines->fd, lines->text + lines->length,
				   sizeof(lines->text) - lines->length);

		if (got < 0)
			return errno == EAGAIN || errno == EINTR;
		if (!got)
			return false;
		lines->length += got;
		hand_over(lines, each, context);
	}
}
