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
#include "cmd/nodes/send.h"
#include "cmd/trace/ready.h"
#include "site/sweep/child.h"

#define LISTEN_MS 100
#define GRACE_MS 8000 /* for removing probes */

/* A node's tracer, as seen from here. */
struct remote {
	const char *node;
	struct child child;
	char line[256]; /* being read, up to its capture */
	size_t length;
	bool ready, over; /* over: says nothing any more */
	int file; /* its capture here; -1: not open */
	uint64_t size, got; /* bytes of it; size 0: it has not begun to come */
	uint64_t heard; /* ns, when something came */
	char *path; /* of its capture */
	char *why; /* it failed; NULL: it did not, so far */
};

struct gatherer {
	const struct gathering *gathering;
	char *folder;
	VEC(struct remote) remotes;
	struct signals signals;
	bool interrupted;
	int err; /* what ends all: a capture could not be written here (printed) */
};

static void fail(struct remote *remote, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The first reason is the cause of all others. */
static void fail(struct remote *remote, const char *format, ...)
{
	va_list arguments;

	if (remote->why)
		return;
	va_start(arguments, format);
	remote->why = xvasprintf(format, arguments);
	va_end(arguments);
}

static char *log_of(const struct gatherer *gatherer, const struct remote *remote)
{
	return xasprintf("%s/%s.log", gatherer->folder, remote->node);
}

/* ---- what nodes say ---- */

static void begin_capture(struct gatherer *gatherer, struct remote *remote, const char *size)
{
	remote->size = strtoull(size, NULL, 10);
	remote->file = open(remote->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (remote->file < 0) {
		gatherer->err = -errno;
		log_error("%s: %s", remote->path, newfile_why(-errno));
		return;
	}
	newfile_hand_over(remote->file, 0600);
}

static void heard_line(struct gatherer *gatherer, struct remote *remote)
{
	if (!strcmp(remote->line, SEND_READY))
		remote->ready = true;
	else if (!strncmp(remote->line, SEND_CAPTURE, strlen(SEND_CAPTURE)) && remote->ready)
		begin_capture(gatherer, remote, remote->line + strlen(SEND_CAPTURE));
}

static void keep(struct gatherer *gatherer, struct remote *remote, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(remote->file, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			gatherer->err = -errno;
			log_error("%s: %s", remote->path, strerror(errno));
			return;
		}
		data += n;
		size -= (size_t)n;
		remote->got += (uint64_t)n;
	}
}

/* Lines; the bytes of the capture follow the line that announces it. */
static void heard(struct gatherer *gatherer, struct remote *remote, const char *data, size_t size)
{
	for (; size && remote->file < 0 && !gatherer->err; data++, size--) {
		if (*data == '\n') {
			remote->line[remote->length] = '\0';
			remote->length = 0;
			heard_line(gatherer, remote);
		} else if (remote->length < sizeof(remote->line) - 1) {
			remote->line[remote->length++] = *data;
		}
	}
	if (remote->file >= 0 && !gatherer->err)
		keep(gatherer, remote, data, size);
}

static void listen_to(struct gatherer *gatherer, struct remote *remote)
{
	char data[1 << 16];
	ssize_t n = read(remote->child.from, data, sizeof(data));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	remote->heard = clock_ns(CLOCK_MONOTONIC);
	if (n > 0)
		heard(gatherer, remote, data, (size_t)n);
	else
		remote->over = true;
}

/* Hears all nodes for a moment. */
static void gather_listen(struct gatherer *gatherer)
{
	VEC(struct pollfd) polls = { 0 };
	struct signalfd_siginfo info;

	for (size_t i = 0; i < gatherer->remotes.len; i++) {
		const struct remote *remote = &gatherer->remotes.data[i];

		vec_push(&polls,
			 ((struct pollfd){ remote->over ? -1 : remote->child.from, POLLIN, 0 }));
	}
	vec_push(&polls, ((struct pollfd){ gatherer->signals.fd, POLLIN, 0 }));
	if (poll(polls.data, polls.len, LISTEN_MS) > 0)
		for (size_t i = 0; i < gatherer->remotes.len; i++)
			if (polls.data[i].revents)
				listen_to(gatherer, &gatherer->remotes.data[i]);
	vec_release(&polls);
	if (signals_next(&gatherer->signals, &info))
		gatherer->interrupted = true;
}

/* ---- their beginning and their end ---- */

static void start(struct gatherer *gatherer, const struct nodes_of_job *nodes, size_t which)
{
	const struct gathering *gathering = gatherer->gathering;
	const struct node_of_job *node = &nodes->list.data[which];
	struct remote *remote = &gatherer->remotes.data[which];
	struct launch launch = nodes->launch;
	struct command what = { 0 }, command = { 0 };
	char self[PATH_MAX], *log;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int err;

	*remote = (struct remote){
		.node = node->name,
		.file = -1,
		.path = xasprintf("%s/%s.ucxb", gatherer->folder, node->name),
	};
	self[length > 0 ? length : 0] = '\0';
	launch.inside = node->job;
	if (gathering->arguments->program)
		command_split(&what, gathering->arguments->program);
	else
		command_add(&what, "%s", self);
	command_split(&what, "attach --send --quiet");
	if (node->job)
		command_add(&what, "--job=%s", node->job);
	else
		command_add(&what, "--all");
	command_append(&what, gathering->options);
	launch.launcher->on_node(&launch, node->name, &what, &command);
	log = log_of(gatherer, remote);
	err = child_start(&remote->child, &command, log, true);
	if (err) {
		fail(remote, "cannot be reached: %s", strerror(-err));
		remote->over = true;
	}
	free(log);
	command_release(&what);
	command_release(&command);
}

static char *behind(const char *prefix, const char *line)
{
	const size_t length = strlen(prefix);

	return strncmp(line, prefix, length) != 0 ? NULL : xstrdup(line + length);
}

/* What is to be known of a node's log. */
struct log_words {
	char *error; /* ucxbpf's last one; else the first line, preferably not srun's */
	char *warning; /* the first one of ucxbpf there; both NULL: none */
};

static struct log_words words_of(const struct gatherer *gatherer, const struct remote *remote)
{
	char *path = log_of(gatherer, remote), *line = NULL, *first = NULL, *status = NULL, *own;
	struct log_words words = { 0 };
	FILE *in = fopen(path, "re");
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
	free(path);
	return words;
}

static void words_release(struct log_words *words)
{
	free(words->error);
	free(words->warning);
}

/* Once a node says nothing any more: whether its capture is whole. */
static void judge_end(const struct gatherer *gatherer, struct remote *remote)
{
	struct log_words words = words_of(gatherer, remote);
	const char *said = words.error ? words.error : "it says nothing of why";

	if (!remote->ready)
		fail(remote, "not traced: %s", said);
	else if (remote->file < 0)
		fail(remote, "its capture did not come: %s", said);
	else if (remote->got < remote->size)
		fail(remote, "its capture is cut short, %llu of %llu bytes came: %s",
		     (unsigned long long)remote->got, (unsigned long long)remote->size, said);
	words_release(&words);
}

static size_t gather_count(const struct gatherer *gatherer, bool ready)
{
	size_t count = 0;

	for (size_t i = 0; i < gatherer->remotes.len; i++)
		count += ready ? gatherer->remotes.data[i].ready : gatherer->remotes.data[i].over;
	return count;
}

static void progress(const struct gatherer *gatherer, const char *what)
{
	if (gatherer->gathering->quiet || !isatty(STDERR_FILENO))
		return;
	if (what)
		fprintf(stderr, "\r%s  nodes %zu: traced %zu, done %zu\033[K", what,
			gatherer->remotes.len, gather_count(gatherer, true),
			gather_count(gatherer, false));
	else
		fputs("\r\033[K", stderr);
}

static bool goes_on(const struct gatherer *gatherer)
{
	return !gatherer->err && gather_count(gatherer, false) < gatherer->remotes.len;
}

/* Whether some node is neither traced nor past that. */
static bool begins(const struct gatherer *gatherer)
{
	for (size_t i = 0; i < gatherer->remotes.len; i++)
		if (!gatherer->remotes.data[i].ready && !gatherer->remotes.data[i].over)
			return true;
	return false;
}

/*
 * Its tracer ends by itself when nobody talks to it any more. It is not ended by a signal: srun
 * makes a SIGTERM a SIGKILL of the whole step, which would leave probes in the job.
 */
static void give_up(struct remote *remote)
{
	remote->over = true;
	if (remote->child.to >= 0)
		close(remote->child.to);
	remote->child.to = -1;
}

/* Until each is traced; one that takes too long is given up. */
static void trace_begin(struct gatherer *gatherer)
{
	const double answer_s = gatherer->gathering->arguments->answer_s;
	const uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);

	while (goes_on(gatherer) && begins(gatherer) && !gatherer->interrupted &&
	       clock_ns(CLOCK_MONOTONIC) - start_ns < answer_s * 1e9) {
		progress(gatherer, "attaching");
		gather_listen(gatherer);
	}
	for (size_t i = 0; i < gatherer->remotes.len; i++) {
		struct remote *remote = &gatherer->remotes.data[i];

		if (remote->ready || remote->over)
			continue;
		if (gatherer->interrupted)
			fail(remote, "not traced: interrupted before it was");
		else
			fail(remote, "not traced: no answer within %g s (--answer)", answer_s);
		give_up(remote);
	}
}

static void trace_on(struct gatherer *gatherer)
{
	const uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
	const double seconds = gatherer->gathering->seconds;

	while (goes_on(gatherer) && !gatherer->interrupted &&
	       (!(seconds > 0) || clock_ns(CLOCK_MONOTONIC) - start_ns < seconds * 1e9)) {
		progress(gatherer, "tracing");
		gather_listen(gatherer);
	}
}

/* A node has so long for its end, and for each part of its capture. */
static void trace_end(struct gatherer *gatherer)
{
	const double answer_s = gatherer->gathering->arguments->answer_s;
	const uint64_t asked = clock_ns(CLOCK_MONOTONIC);

	signals_finish(gatherer->interrupted);
	for (size_t i = 0; i < gatherer->remotes.len; i++) {
		struct child *child = &gatherer->remotes.data[i].child;

		if (child->to >= 0)
			close(child->to);
		child->to = -1;
	}
	while (goes_on(gatherer)) {
		const uint64_t now = clock_ns(CLOCK_MONOTONIC);

		progress(gatherer, "gathering");
		gather_listen(gatherer);
		for (size_t i = 0; i < gatherer->remotes.len; i++) {
			struct remote *remote = &gatherer->remotes.data[i];
			uint64_t since = remote->heard > asked ? remote->heard : asked;

			if (remote->over || now < since || now - since < answer_s * 1e9)
				continue;
			fail(remote, "its capture did not come within %g s (--answer)", answer_s);
			give_up(remote);
		}
	}
}

static int ms_until(uint64_t end)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	return now < end ? (int)((end - now) / 1000000) : 0;
}

/* Ends all remaining children; the tracers on nodes end with their connections. */
static void end(struct gatherer *gatherer)
{
	const uint64_t last = clock_ns(CLOCK_MONOTONIC) + GRACE_MS * 1000000ull;

	for (size_t i = 0; i < gatherer->remotes.len; i++) {
		struct remote *remote = &gatherer->remotes.data[i];

		if (!remote->over)
			give_up(remote);
	}
	for (size_t i = 0; i < gatherer->remotes.len; i++) {
		struct remote *remote = &gatherer->remotes.data[i];

		if (!child_wait(&remote->child, ms_until(last)))
			child_end(&remote->child, 0);
		child_close(&remote->child);
		if (remote->file >= 0 && close(remote->file) && !gatherer->err) {
			gatherer->err = -errno;
			log_error("%s: %s", remote->path, strerror(errno));
		}
		judge_end(gatherer, remote);
	}
	progress(gatherer, NULL);
}

/* ---- its result ---- */

/* Its log is kept where it says why something is missing. */
static void tell(const struct gatherer *gatherer, const struct remote *remote)
{
	struct log_words words = words_of(gatherer, remote);
	char *log = log_of(gatherer, remote);

	if (remote->why)
		log_warn("%s: %s", remote->node, remote->why);
	else if (words.warning)
		log_warn("%s: %s", remote->node, words.warning);
	if (!words.warning && (!remote->why || !words.error))
		unlink(log);
	words_release(&words);
	free(log);
}

/* Where no node is traced: the status that all of them ended with, where it is one of ours. */
static int common_status(const struct gatherer *gatherer)
{
	int status = gatherer->remotes.data[0].child.status;

	for (size_t i = 1; i < gatherer->remotes.len; i++)
		if (gatherer->remotes.data[i].child.status != status)
			return UCXBPF_EXIT_FAILED;
	return status >= UCXBPF_EXIT_PERMISSION && status <= UCXBPF_EXIT_NO_SPACE
		       ? status
		       : UCXBPF_EXIT_FAILED;
}

/* As replay does it, which it becomes: no right to trace is left. */
static int report(const struct gatherer *gatherer)
{
	VEC(char *) words = { 0 };
	char name[] = "ucxbpf replay", end_of_options[] = "--";
	int status;

	vec_push(&words, name);
	vec_push(&words, end_of_options);
	for (size_t i = 0; i < gatherer->remotes.len; i++)
		if (gatherer->remotes.data[i].got)
			vec_push(&words, gatherer->remotes.data[i].path);
	vec_push(&words, NULL);
	status = cmd_replay((int)words.len - 1, words.data);
	vec_release(&words);
	return status;
}

static int result(const struct gatherer *gatherer)
{
	size_t whole = 0, some = 0;
	int status = UCXBPF_EXIT_OK;

	for (size_t i = 0; i < gatherer->remotes.len; i++) {
		tell(gatherer, &gatherer->remotes.data[i]);
		whole += !gatherer->remotes.data[i].why;
		some += gatherer->remotes.data[i].got > 0;
	}
	if (gatherer->err)
		return exit_unwritten("attach", gatherer->err);
	if (!some) {
		log_error("no node was traced");
		return common_status(gatherer);
	}
	if (!gatherer->gathering->quiet) {
		status = report(gatherer);
		fflush(stdout);
		fprintf(stderr,
			"\ncaptures of %zu of %zu nodes in %s; the same again: "
			"ucxbpf replay %s/*.ucxb\n",
			some, gatherer->remotes.len, gatherer->folder, gatherer->folder);
	}
	return status == UCXBPF_EXIT_OK && whole < gatherer->remotes.len ? UCXBPF_EXIT_PARTIAL
									 : status;
}

static int trace_nodes(struct gatherer *gatherer, const struct nodes_of_job *nodes)
{
	int err = signals_open(&gatherer->signals, true), status;

	if (err) {
		log_error("%s", strerror(-err));
		return UCXBPF_EXIT_FAILED;
	}
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < nodes->list.len; i++)
		vec_add(&gatherer->remotes);
	for (size_t i = 0; i < nodes->list.len; i++)
		start(gatherer, nodes, i);
	trace_begin(gatherer);
	gatherer->err = gatherer->err ? gatherer->err : ready_write(gatherer->gathering->ready);
	trace_on(gatherer);
	trace_end(gatherer);
	end(gatherer);
	status = result(gatherer);
	for (size_t i = 0; i < gatherer->remotes.len; i++) {
		free(gatherer->remotes.data[i].path);
		free(gatherer->remotes.data[i].why);
	}
	vec_release(&gatherer->remotes);
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
