// SPDX-License-Identifier: BSD-3-Clause
#include "site/sweep/agents.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

#define GRACE_MS 3000

/* As a node says them. */
static const char *const agent_words[AGENT_STEPS] = { "before", "ready", "traced", "after" };

void agent_command(struct command *out, const char *program, const char *folder, const char *node)
{
	command_split(out, program);
	command_split(out, "sweep node");
	command_add(out, "%s/nodes/%s", folder, node);
}

static void start(struct agent *agent, const struct launch *launch, const char *program,
		  const char *folder)
{
	struct command what = { 0 }, command = { 0 };
	char log[4096];
	int err;

	agent_command(&what, program, folder, agent->node);
	launch->launcher->on_node(launch, agent->node, &what, &command);
	snprintf(log, sizeof(log), "%s/log/%s", folder, agent->node);
	err = child_start(&agent->child, &command, log, true);
	if (err) {
		log_error("%s: cannot be reached: %s", agent->node, strerror(-err));
		agent->gone = true;
	}
	agent->output.fd = agent->child.from;
	command_release(&what);
	command_release(&command);
}

void agents_start(struct agents *agents, const struct launch *launch, char *const *nodes,
		  size_t count, const char *program, const char *folder)
{
	for (size_t i = 0; i < count; i++)
		vec_add(&agents->list)->node = nodes[i];
	for (size_t i = 0; i < count; i++)
		start(&agents->list.data[i], launch, program, folder);
}

static void heard(void *context, char *line)
{
	struct agent *agent = context;

	for (int i = 0; i < AGENT_STEPS; i++) {
		size_t length = strlen(agent_words[i]);

		if (!strncmp(line, agent_words[i], length) &&
		    (line[length] == ' ' || !line[length])) {
			agent->said[i] = true;
			agent->status[i] = atoi(line + length);
		}
	}
}

static void listen_to(struct agent *agent)
{
	if (!lines_read(&agent->output, heard, agent)) {
		agent->gone = true;
		child_close(&agent->child);
		agent->output.fd = -1;
	}
}

void agents_listen(struct agents *agents, int ms, int extra)
{
	VEC(struct pollfd) polls = { 0 };

	for (size_t i = 0; i < agents->list.len; i++) {
		struct agent *agent = &agents->list.data[i];

		vec_push(&polls, ((struct pollfd){ .fd = agent->gone ? -1 : agent->output.fd,
						   .events = POLLIN }));
	}
	vec_push(&polls, ((struct pollfd){ .fd = extra, .events = POLLIN }));
	if (poll(polls.data, polls.len, ms) > 0)
		for (size_t i = 0; i < agents->list.len; i++)
			if (polls.data[i].revents)
				listen_to(&agents->list.data[i]);
	vec_release(&polls);
}

/* A tracer that has ended does not become ready. */
static bool settled(const struct agent *agent, enum agent_step step)
{
	bool traces = step == AGENT_READY || step == AGENT_TRACED;

	return agent->gone || agent->said[step] || (traces && !agent->asked) ||
	       (step == AGENT_READY && agent->said[AGENT_TRACED]);
}

bool agents_all(const struct agents *agents, enum agent_step step)
{
	for (size_t i = 0; i < agents->list.len; i++)
		if (!settled(&agents->list.data[i], step))
			return false;
	return true;
}

bool agent_did(const struct agent *agent, enum agent_step step)
{
	return agent->said[step] && !agent->status[step];
}

size_t agents_count(const struct agents *agents, enum agent_step step)
{
	size_t count = 0;

	for (size_t i = 0; i < agents->list.len; i++)
		count += agent_did(&agents->list.data[i], step);
	return count;
}

void agent_send(struct agent *agent, const char *format, ...)
{
	va_list arguments;
	size_t length;
	char *line;

	va_start(arguments, format);
	line = xvasprintf(format, arguments);
	va_end(arguments);
	length = strlen(line);
	line[length] = '\n';
	if (!agent->gone && write(agent->child.to, line, length + 1) != (ssize_t)length + 1)
		agent->gone = true;
	free(line);
}

void agents_end(struct agents *agents)
{
	for (size_t i = 0; i < agents->list.len; i++)
		child_close(&agents->list.data[i].child);
	for (size_t i = 0; i < agents->list.len; i++) {
		struct agent *agent = &agents->list.data[i];

		if (!agent_did(agent, AGENT_AFTER) || !child_wait(&agent->child, GRACE_MS))
			child_end(&agent->child, GRACE_MS);
	}
	vec_release(&agents->list);
}
