/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that start programs on nodes, and are ended by their ids; lines read from them. */
#ifndef UCXBPF_SWEEP_CHILD_H
#define UCXBPF_SWEEP_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "site/sweep/command.h"

struct child {
	pid_t pid; /* 0: none, or it has ended */
	int to, from; /* its standard input and output; -1: none of ours */
	int status; /* once it has ended: of its exit, or 128 + signal */
};

#define CHILD_NONE ((struct child){ .to = -1, .from = -1 })

/*
 * Starts it in a process group of its own, which a terminal's Ctrl-C does not reach. Its standard
 * error (and standard output unless talk) is appended to the file log. talk: to and from are pipes,
 * which do not block; else its input is empty. -errno.
 */
int child_start(struct child *child, struct command *command, const char *log, bool talk);

/* Whether it has ended, or was never started. */
bool child_ended(struct child *child);

/* Waits for its end for at most ms. */
bool child_wait(struct child *child, int ms);

/* SIGTERM, and SIGKILL after ms; waits for its end. */
void child_end(struct child *child, int grace_ms);

/* Closes our ends of the pipes. */
void child_close(struct child *child);

/* ---- lines from a descriptor that does not block ---- */

#define LINES_MAX 4096 /* longer lines are cut */

struct line_input {
	int fd;
	char text[LINES_MAX];
	size_t length;
};

/* Passes on all lines received, without newlines; false: end of file. */
bool lines_read(struct line_input *lines, void (*each)(void *context, char *line), void *context);

#endif
