/* SPDX-License-Identifier: BSD-3-Clause */
/* The running processes that `attach` and `pending` look at, and for how long. */
#ifndef UCXBPF_CMD_TRACE_CHOSEN_H
#define UCXBPF_CMD_TRACE_CHOSEN_H

#include <argp.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/vec.h"
#include "observe/capture/capture.h"

/* By pid, by job, or all that use UCX or MPI; zeroed at first. */
struct chosen {
	VEC(pid_t) pids;
	const char *job; /* NULL: none */
	bool all;
	double seconds; /* 0: without an end */
	bool patient; /* none of them needs to use UCX or MPI yet */
	bool partial; /* set by chosen_begin(): some of the listed ones are not traced */
};

/* Keys of the options --job and --all; -p and -d have letters. */
enum { CHOSEN_JOB = 1024, CHOSEN_ALL };

/*
 * A parser's answer to these options, to stray words, which are pids, and to the end, by when
 * exactly one of the three must have been given. Writes to the value. A bad value is an error of
 * the parser's.
 */
error_t chosen_parse(struct chosen *chosen, int key, char *value, struct argp_state *state);

/*
 * Adds the chosen processes, of a launcher those below it, and begins their records. waiting: the
 * listed ones wait until they are probed. 0, or -errno (printed): then none is traced.
 */
int chosen_begin(struct chosen *chosen, struct capture_session *capture, bool waiting);

/*
 * A process's variables as /proc has them, each with its NUL, to be freed. *size: -errno where they
 * cannot be read.
 */
char *chosen_environment(pid_t pid, long *size);

#endif
