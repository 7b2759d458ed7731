/* SPDX-License-Identifier: BSD-3-Clause */
/* `attach --all-nodes`: a tracer on each node of a job, their captures in one folder, one report.
 */
#ifndef UCXBPF_CMD_NODES_GATHER_H
#define UCXBPF_CMD_NODES_GATHER_H

#include <stdbool.h>

#include "cmd/nodes/args.h"

struct gathering {
	const struct nodes_arguments *arguments;
	const char *job; /* NULL: all that use UCX or MPI there */
	const struct command *options; /* more of each node's attach */
	const char *folder; /* NULL: a new one with the job's id and the time as its name */
	const char *ready; /* file to write once all nodes trace that can; NULL: none */
	double seconds; /* that all nodes trace together; 0: until a signal, or the job's end */
	bool quiet;
};

/*
 * Traces, gathers NODE.ucxb into the folder and reports on all of them. A node that fails is named,
 * with the reason. Returns the exit status (docs/exit-codes.md).
 */
int gather_nodes(const struct gathering *gathering);

#endif
