/* SPDX-License-Identifier: BSD-3-Clause */
/* The running processes that `attach` was asked to trace: by pid, or by Slurm job. */
#ifndef UCXBPF_CMD_TRACE_CHOSEN_H
#define UCXBPF_CMD_TRACE_CHOSEN_H

#include "base/vec.h"
#include "observe/capture/capture.h"

struct chosen {
	VEC(pid_t) pids;
	const char *job; /* NULL: none */
	bool partial; /* set by chosen_add(): some of the listed ones could not be traced */
};

/*
 * Adds them; of a launcher, what runs below it. waiting: the listed ones wait until they are
 * probed. Returns 0, or -errno where there is none, which has been printed then.
 */
int chosen_add(struct chosen *chosen, struct capture *capture, bool waiting);

#endif
