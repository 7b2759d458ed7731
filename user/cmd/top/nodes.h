/* SPDX-License-Identifier: BSD-3-Clause */
/* `top --all-nodes`: a view on each node of a job, all on one screen or standard output. */
#ifndef UCXBPF_CMD_TOP_NODES_H
#define UCXBPF_CMD_TOP_NODES_H

#include <stdint.h>

#include "cmd/nodes/args.h"

struct nodes_top {
	const struct nodes_arguments *arguments;
	const char *job; /* NULL: all processes that use UCX or MPI */
	const struct command *options; /* further options of each node's top */
	uint64_t interval; /* ns, of each view */
	const char *budget; /* the option --budget for views and captures; NULL: their default */
	bool json; /* prints each object with its node's name; false: draws a screen */
};

/*
 * Until all nodes' views have ended, a signal comes or a key ends them. A node that fails is named,
 * with the reason. Returns the exit status (docs/exit-codes.md).
 */
int top_everywhere(const struct nodes_top *top);

#endif
