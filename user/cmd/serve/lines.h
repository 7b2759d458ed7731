/* SPDX-License-Identifier: BSD-3-Clause */
/* The file that has a line for each job that has ended. */
#ifndef UCXBPF_CMD_SERVE_LINES_H
#define UCXBPF_CMD_SERVE_LINES_H

#include <stdbool.h>

#include "live/jobs.h"

/* Makes the file if it does not exist. 0, or -errno for newfile_why(). */
int lines_check(const char *path);

/*
 * Appends lines of jobs that have ended in the last interval; last: also of live jobs. A
 * line that cannot be written is part of the job's next one. Calls done() for each, with 0 or
 * -errno.
 */
void lines_append(const char *path, const struct jobs *jobs, bool last,
		  void (*done)(void *arg, int err), void *arg);

#endif
