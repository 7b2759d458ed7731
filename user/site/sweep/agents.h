/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other ends of sweep_node(), one per node. A node's late answer counts as missing, for that
 * node only. Private to sweep/.
 */
#ifndef UCXBPF_SWEEP_AGENTS_H
#define UCXBPF_SWEEP_AGENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "site/sweep/child.h"
#include "site/sweep/launcher.h"

/* In the order in which a node reaches them. */
enum agent_step { AGENT_BEFORE, AGENT_READY, AGENT_TRACED, AGENT_AFTER, AGENT_STEPS };

struct agent {
	const char *node;
	struct child child;
	struct line_input output;
	bool said[AGENT_STEPS], asked; /* asked to trace */
	int status[AGENT_STEPS]; /* status sent with the step; 0: success */
	bool gone; /* reports nothing any more */
};

struct agents {
	VEC(struct agent) list;
};

/* How a node's part is called there. */
void agent_command(struct command *out, const char *program, const char *folder, const char *node);

/*
 * Starts one per node, by the launcher; other output of theirs goes to log/NODE in the sweep's
 * folder.
 */
void agents_start(struct agents *agents, const struct launch *launch, char *const *nodes,
		  size_t count, const char *program, const char *folder);

/* Reads agents' lines for at most ms. extra: another descriptor that ends the wait; -1: none. */
void agents_listen(struct agents *agents, int ms, int extra);

/* Whether every node has reported this step or is gone; a tracing step: every node asked to trace.
 */
bool agents_all(const struct agents *agents, enum agent_step step);
size_t agents_count(const struct agents *agents, enum agent_step step);

/* Whether a node has reached this step with success. */
bool agent_did(const struct agent *agent, enum agent_step step);

/* Sends a line (the newline is added). A node that cannot be reached counts as gone. */
void agent_send(struct agent *agent, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends all remaining agents. */
void agents_end(struct agents *agents);

#endif
