/* SPDX-License-Identifier: BSD-3-Clause */
/* This program on each node of a job: its start, its output and its end, as seen from here. */
#ifndef UCXBPF_CMD_NODES_REMOTE_H
#define UCXBPF_CMD_NODES_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/signals.h"
#include "base/vec.h"
#include "cmd/nodes/args.h"
#include "site/sweep/child.h"

struct remote {
	const char *node;
	struct child child;
	VEC(char) line; /* being read */
	bool line_taken; /* it is whole, and the caller has it */
	bool over; /* says nothing any more */
	uint64_t heard; /* ns, CLOCK_MONOTONIC, when something came */
	char *log; /* file of its standard error */
	char *why; /* it failed; NULL: it did not, so far */
};

/* Zeroed at first. */
struct remotes {
	VEC(struct remote) list; /* one for each node, in their order */
	struct signals signals;
	bool keys; /* standard input is a terminal whose keys end a wait */
	bool interrupted; /* by a signal, or the terminal is gone */
};

/*
 * Starts the program with these words, to which the choice of the job's processes is added, on
 * every node; each ends when its standard input does. folder: of the logs NODE.log. 0, or -errno
 * (printed).
 */
int remotes_start(struct remotes *remotes, const struct nodes_arguments *arguments,
		  const struct nodes_of_job *nodes, const struct command *words,
		  const char *folder);

/* Listens to all nodes for a moment, and hands over their output. */
void remotes_listen(struct remotes *remotes,
		    void (*take)(void *arg, size_t which, const char *data, size_t size),
		    void *arg);

/* The number of nodes whose output has ended. */
size_t remotes_over(const struct remotes *remotes);

/* Tells all nodes to end; the rest of their output still comes. */
void remotes_finish(struct remotes *remotes);

/* Gives up the nodes whose output has not ended, and waits for all. */
void remotes_end(struct remotes *remotes);

/* If no node sent anything: the status that all ended with, if it is one of this program's. */
int remotes_status(const struct remotes *remotes);

void remotes_release(struct remotes *remotes);

/*
 * Takes a line off the start of the data, joined with its earlier part. It has no newline, and is
 * valid until the next call. NULL: the line is not complete yet.
 */
const char *remote_line(struct remote *remote, const char **data, size_t *size);

/* The first reason is the cause of all others. */
void remote_fail(struct remote *remote, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Gives a node up. It ends by itself when its input is closed, and not by a signal: srun turns a
 * SIGTERM into a SIGKILL of the whole step, which would leave probes in the job.
 */
void remote_give_up(struct remote *remote);

/* Why it failed, in its own words; the caller's. Complete once it has ended. */
char *remote_said(const struct remote *remote);

/*
 * Prints why it failed, or its first warning. Its log is kept if it has the reason why something is
 * missing.
 */
void remote_explain(const struct remote *remote);

#endif
