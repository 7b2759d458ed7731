// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/nodes/remote.h"

#include <errno.h>
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

#define LISTEN_MS 100
#define GRACE_MS 8000 /* for removing probes */
#define LINE_MAX_SIZE (16u << 20) /* the rest of a longer one is left out */

void remote_fail(struct remote *remote, const char *format, ...)
{
	va_list arguments;

	if (remote->why)
		return;
	va_start(arguments, format);
	remote->why = xvasprintf(format, arguments);
	va_end(arguments);
}

/* ---- their beginning ---- */

static void start(struct remote *remote, const struct nodes_arguments *arguments,
		  const struct node_of_job *node, struct launch launch, const struct command *words)
{
	struct command what = { 0 }, command = { 0 };
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int err;

	self[length > 0 ? length : 0] = '\0';
	launch.inside = node->job;
	if (arguments->program)
		command_split(&what, arguments->program);
	else
		command_add(&what, "%s", self);
	command_append(&what, words);
	if (node->job)
		command_add(&what, "--job=%s", node->job);
	else
		command_add(&what, "--all");
	launch.launcher->on_node(&launch, node->name, &what, &command);
	err = child_start(&remote->child, &command, remote->log, true);
	if (err) {
		remote_fail(remote, "cannot be reached: %s", strerror(-err));
		remote->over = true;
	}
	command_release(&what);
	command_release(&command);
}

int remotes_start(struct remotes *remotes, const struct nodes_arguments *arguments,
		  const struct nodes_of_job *nodes, const struct command *words, const char *folder)
{
	int err = signals_open(&remotes->signals, true);

	if (err) {
		log_error("%s", strerror(-err));
		return err;
	}
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < nodes->list.len; i++) {
		const struct node_of_job *node = &nodes->list.data[i];
		struct remote *remote = vec_add(&remotes->list);

		remote->node = node->name;
		remote->log = xasprintf("%s/%s.log", folder, node->name);
		start(remote, arguments, node, nodes->launch, words);
	}
	return 0;
}

/* ---- their output ---- */

const char *remote_line(struct remote *remote, const char **data, size_t *size)
{
	const char *end = memchr(*data, '\n', *size);
	size_t more = end ? (size_t)(end - *data) : *size, room;

	if (remote->line_taken)
		remote->line.len = 0;
	room = LINE_MAX_SIZE - remote->line.len;
	vec_reserve(&remote->line, remote->line.len + more + 1);
	memcpy(remote->line.data + remote->line.len, *data, more < room ? more : room);
	remote->line.len += more < room ? more : room;
	remote->line.data[remote->line.len] = '\0';
	*data += more + !!end;
	*size -= more + !!end;
	remote->line_taken = end;
	return end ? remote->line.data : NULL;
}

static ssize_t listen_to(struct remote *remote, char *data, size_t size)
{
	ssize_t n = read(remote->child.from, data, size);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	remote->heard = clock_ns(CLOCK_MONOTONIC);
	if (n <= 0)
		remote->over = true;
	return n;
}

void remotes_listen(struct remotes *remotes,
		    void (*take)(void *arg, size_t which, const char *data, size_t size), void *arg)
{
	VEC(struct pollfd) polls = { 0 };
	struct signalfd_siginfo info;
	char data[1 << 16];

	for (size_t i = 0; i < remotes->list.len; i++) {
		const struct remote *remote = &remotes->list.data[i];

		vec_push(&polls,
			 ((struct pollfd){ remote->over ? -1 : remote->child.from, POLLIN, 0 }));
	}
	vec_push(&polls, ((struct pollfd){ remotes->signals.fd, POLLIN, 0 }));
	vec_push(&polls, ((struct pollfd){ remotes->keys ? STDIN_FILENO : -1, POLLIN, 0 }));
	if (poll(polls.data, polls.len, LISTEN_MS) > 0)
		for (size_t i = 0; i < remotes->list.len; i++) {
			ssize_t n = polls.data[i].revents
					    ? listen_to(&remotes->list.data[i], data, sizeof(data))
					    : 0;

			if (n > 0)
				take(arg, i, data, (size_t)n);
		}
	if (polls.data[polls.len - 1].revents & (POLLHUP | POLLERR))
		remotes->interrupted = true;
	vec_release(&polls);
	if (signals_next(&remotes->signals, &info))
		remotes->interrupted = true;
}

size_t remotes_over(const struct remotes *remotes)
{
	size_t count = 0;

	for (size_t i = 0; i < remotes->list.len; i++)
		count += remotes->list.data[i].over;
	return count;
}

static char *behind(const char *prefix, const char *line)
{
	const size_t length = strlen(prefix);

	return strncmp(line, prefix, length) != 0 ? NULL : xstrdup(line + length);
}

/* The lines of a node's log that matter. */
struct log_words {
	char *error; /* ucxbpf's last one; else the first line, preferably not srun's */
	char *warning; /* the first one of ucxbpf there; both NULL: none */
};

static struct log_words words_of(const struct remote *remote)
{
	char *line = NULL, *first = NULL, *status = NULL, *own;
	struct log_words words = { 0 };
	FILE *in = fopen(remote->log, "re");
	size_t room = 0;

	while (in && xgetline(&line, &room, in) > 0) {
		line[strcspn(line, "\r\n")] = '\0';
		own = behind("ucxbpf: error: ", line);
		if (own) {
			free(words.error);
			words.error = own;
		} else if (!words.warning) {
			words.warning = behind("ucxbpf: warning: ", line);
		}
		/* srun's "Exited with exit code 127" may come before the line that says why */
		if (!strncmp(line, "srun: ", 6)) {
			status = status ? status : xstrdup(line);
			continue;
		}
		if (!first && line[strspn(line, " \t")])
			first = xstrdup(line);
	}
	if (first)
		free(status);
	else
		first = status;
	if (in)
		fclose(in);
	if (words.error)
		free(first);
	else
		words.error = first;
	free(line);
	return words;
}

static void words_release(struct log_words *words)
{
	free(words->error);
	free(words->warning);
}

char *remote_said(const struct remote *remote)
{
	struct log_words words = words_of(remote);
	char *said = xstrdup(words.error ? words.error : "it gave no reason");

	words_release(&words);
	return said;
}

void remote_explain(const struct remote *remote)
{
	struct log_words words = words_of(remote);

	if (remote->why)
		log_warn("%s: %s", remote->node, remote->why);
	else if (words.warning)
		log_warn("%s: %s", remote->node, words.warning);
	if (!words.warning && (!remote->why || !words.error))
		unlink(remote->log);
	words_release(&words);
}

/* ---- their end ---- */

static void finish(struct remote *remote)
{
	if (remote->child.to >= 0)
		close(remote->child.to);
	remote->child.to = -1;
}

void remote_give_up(struct remote *remote)
{
	remote->over = true;
	finish(remote);
}

void remotes_finish(struct remotes *remotes)
{
	for (size_t i = 0; i < remotes->list.len; i++)
		finish(&remotes->list.data[i]);
}

static int ms_until(uint64_t end)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	return now < end ? (int)((end - now) / 1000000) : 0;
}

void remotes_end(struct remotes *remotes)
{
	const uint64_t last = clock_ns(CLOCK_MONOTONIC) + GRACE_MS * 1000000ull;

	for (size_t i = 0; i < remotes->list.len; i++)
		remote_give_up(&remotes->list.data[i]);
	for (size_t i = 0; i < remotes->list.len; i++) {
		struct child *child = &remotes->list.data[i].child;

		if (!child_wait(child, ms_until(last)))
			child_end(child, 0);
		child_close(child);
	}
}

int remotes_status(const struct remotes *remotes)
{
	int status = remotes->list.data[0].child.status;

	for (size_t i = 1; i < remotes->list.len; i++)
		if (remotes->list.data[i].child.status != status)
			return UCXBPF_EXIT_FAILED;
	return status >= UCXBPF_EXIT_PERMISSION && status <= UCXBPF_EXIT_NO_SPACE
		       ? status
		       : UCXBPF_EXIT_FAILED;
}

void remotes_release(struct remotes *remotes)
{
	for (size_t i = 0; i < remotes->list.len; i++) {
		struct remote *remote = &remotes->list.data[i];

		vec_release(&remote->line);
		free(remote->log);
		free(remote->why);
	}
	vec_release(&remotes->list);
}
