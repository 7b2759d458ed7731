/* SPDX-License-Identifier: BSD-3-Clause */
/* The variables by which batch systems identify a job to its processes. */
#ifndef UCXBPF_CMD_TRACE_JOB_H
#define UCXBPF_CMD_TRACE_JOB_H

#include <stdbool.h>
#include <stddef.h>

/* batch_variables[] for people. */
#define JOB_VARIABLES "SLURM_JOB_ID, PBS_JOBID, LSB_JOBID, FLUX_JOB_ID"

/* Whether a user who says id means the job: 12 is also the job 12.server of PBS. */
bool job_is(const char *job, const char *id);

/* Likewise, whether an environment of size bytes, each variable with its NUL, is of that job. */
bool job_has(const char *environment, size_t size, const char *id);

#endif
