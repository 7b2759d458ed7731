/* SPDX-License-Identifier: BSD-3-Clause */
/* `attach -p` with the pid of mpirun, srun or a shell: what runs below it is meant. */
#ifndef UCXBPF_CMD_TRACE_LAUNCHER_H
#define UCXBPF_CMD_TRACE_LAUNCHER_H

#include <sys/types.h>

#include "observe/capture/capture.h"

/*
 * Adds the processes below one that maps neither UCX nor MPI itself, and says which of them do.
 * Returns how many do.
 */
unsigned int attach_below(struct capture *capture, pid_t launcher);

#endif
