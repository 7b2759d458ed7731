// SPDX-License-Identifier: BSD-3-Clause
/*
 * A sweep's agent on each node: takes the inventory, traces the processes named to it, takes the
 * inventory again. It is started once per node and speaks lines with whoever started it, so that a
 * sweep needs one connection per node:
 *
 * - it says "before STATUS": nodes/NODE/before.json is written, or failed
 * - it hears "trace NAME PID,PID..."
 * - it says "ready": nodes/NODE/NAME.ucxb records; where that fails it says nothing
 * - it says "traced STATUS": the processes have ended
 * - it hears "end"
 * - it says "after STATUS", and ends
 *
 * When its standard input ends, it ends its tracer and itself: nothing stays behind.
 */
#include "site/sweep/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "site/sweep/child.h"

#define LOOK_MS 50
#define INVENTORY_MS 20000
#define TRACER_END_MS 10000

struct node_agent {
	const char *folder;
	char self[4096]; /* this program */
	char log[4096];
	struct line_input input;
	char budget[16]; /* of the tracer; "": none */
	struct child tracer;
	int ready; /* read end of the tracer's --ready pipe; -1: none, or ready already */
	bool over; /* told so, or nobody is there to tell */
};

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	fflush(stdout);
}

static int inventory(struct node_agent *node, const char *name)
{
	struct command command = { 0 };
	struct child child = CHILD_NONE;
	int err;

	command_add(&command, "%s", node->self);
	command_split(&command, "inventory --format json -o");
	command_add(&command, "%s/%s.json", node->folder, name);
	err = child_start(&child, &command, node->log, false);
	if (!err && !child_wait(&child, INVENTORY_MS))
		child_end(&child, 1000);
	command_release(&command);
	return err ? -err : child.status;
}

/*
 * A rank in a pid namespace of its own reports another process's id: only processes of this sweep,
 * with its folder in their command line, are traced.
 */
static bool is_rank(const struct node_agent *node, const char *pid)
{
	size_t length = strlen(node->folder);
	char path[64], text[8192];
	const char *at = text;
	FILE *file;
	size_t got;

	/* without /nodes/NODE */
	for (int up = 0; up < 2; up++)
		while (length && node->folder[--length] != '/')
			;
	snprintf(path, sizeof(path), "/proc/%.20s/cmdline", pid);
	file = fopen(path, "re");
	got = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	if (file)
		fclose(file);
	text[got] = '\0';
	for (; at < text + got; at += strlen(at) + 1)
		if (memmem(at, strlen(at), node->folder, length))
			return true;
	return false;
}

/* The ids of pids that are ranks, as attach takes them. */
static void add_ranks(const struct node_agent *node, struct command *command, char *pids)
{
	char ranks[LINES_MAX] = "";
	const char *pid;

	while ((pid = strsep(&pids, ",")))
		if (is_rank(node, pid))
			snprintf(ranks + strlen(ranks), sizeof(ranks) - strlen(ranks), "%s%s",
				 *ranks ? "," : "", pid);
	command_add(command, "--pid=%s", ranks);
}

static void trace(struct node_agent *node, const char *name, char *pids)
{
	struct command command = { 0 };
	char capture[256];
	int ends[2], err;

	/* kept by the tracer until it says that it is ready, or ends */
	if (pipe(ends)) {
		say("traced %d", errno);
		return;
	}
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	command_add(&command, "%s", node->self);
	command_split(&command, "attach --quiet --exact");
	command_add(&command, "--budget=%s", *node->budget ? node->budget : "none");
	snprintf(capture, sizeof(capture), "/%s.ucxb", name);
	command_add_file(&command, "--output=", node->folder, capture);
	command_add(&command, "--ready=/dev/fd/%d", ends[1]);
	add_ranks(node, &command, pids);
	err = child_start(&node->tracer, &command, node->log, false);
	close(ends[1]);
	command_release(&command);
	node->ready = ends[0];
	if (err) {
		close(ends[0]);
		node->ready = -1;
		say("traced %d", -err);
	}
}

static void obey(void *context, char *line)
{
	struct node_agent *node = context;
	char *rest = line, *word = strsep(&rest, " "), *name;

	if (!strcmp(word, "end")) {
		node->over = true;
	} else if (!strcmp(word, "budget") && rest) {
		snprintf(node->budget, sizeof(node->budget), "%s", rest);
	} else if (!strcmp(word, "trace") && rest && !node->tracer.pid) {
		name = strsep(&rest, " ");
		if (rest && !strchr(name, '/'))
			trace(node, name, rest);
	}
}

static void look_at_tracer(struct node_agent *node)
{
	char byte[8];
	ssize_t got = node->ready >= 0 ? read(node->ready, byte, sizeof(byte)) : 0;

	if (got > 0)
		say("ready");
	if (node->ready >= 0) {
		close(node->ready);
		node->ready = -1;
	}
}

static void work(struct node_agent *node)
{
	bool tracing = node->tracer.pid;
	struct pollfd polls[] = { { .fd = node->input.fd, .events = POLLIN },
				  { .fd = node->ready, .events = POLLIN } };

	poll(polls, node->ready >= 0 ? 2 : 1, LOOK_MS);
	if (polls[0].revents && !lines_read(&node->input, obey, node))
		node->over = true;
	if (node->ready >= 0 && polls[1].revents)
		look_at_tracer(node);
	if (tracing && child_ended(&node->tracer))
		say("traced %d", node->tracer.status);
}

int sweep_node(const char *folder)
{
	struct node_agent node = { .folder = folder, .tracer = CHILD_NONE, .ready = -1 };
	ssize_t length = readlink("/proc/self/exe", node.self, sizeof(node.self) - 1);

	signal(SIGPIPE, SIG_IGN);
	snprintf(node.log, sizeof(node.log), "%s/log", folder);
	if (length <= 0 || (mkdir(folder, 0755) && errno != EEXIST)) {
		log_error("%s: %s", folder, strerror(errno));
		return UCXBPF_CHECK_FAILED;
	}
	fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
	say("before %d", inventory(&node, "before"));
	while (!node.over)
		work(&node);
	if (node.tracer.pid) {
		child_end(&node.tracer, TRACER_END_MS);
		say("traced %d", node.tracer.status);
	}
	say("after %d", inventory(&node, "after"));
	return 0;
}
