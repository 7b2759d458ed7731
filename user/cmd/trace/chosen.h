/* SPDX-License-Identifier: BSD-3-Clause */
/* The running processes that `attach` and `pending` are asked to look at. */
#ifndef UCXBPF_CMD_TRACE_CHOSEN_H
#define UCXBPF_CMD_TRACE_CHOSEN_H

#include <argp.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/vec.h"
#include "observe/capture/capture.h"

/* By pid, by Slurm job, or all that use UCX or MPI; zeroed at first. */
struct chosen {
	VEC(pid_t) pids;
	const char *job; /* NULL: none */
	bool all;
	bool partial; /* set by chosen_begin(): some of the listed ones could not be traced */
};

/* "PID[,PID...]", which is written to; what is none is an error of the parser's. */
void chosen_parse_pids(struct chosen *chosen, char *list, struct argp_state *state);

/* That one of the three ways was used, and one alone; likewise. */
void chosen_check(const struct chosen *chosen, struct argp_state *state);

/*
 * Adds the chosen processes, of a launcher those below it, and begins their records. waiting: the
 * listed ones wait until they are probed. 0, or -errno (printed): then none is traced.
 */
int chosen_begin(struct chosen *chosen, struct capture_session *capture, bool waiting);

/* A process's variables as /proc has them, each with its NUL; empty if it is gone. To be freed. */
char *chosen_environment(pid_t pid, long *size);

#endif
