/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of captures. Several tracers of one job, one per rank or per node, often share a folder:
 * a template gives each a name of its own.
 */
#ifndef UCXBPF_CMD_TRACE_CAPTURE_NAME_H
#define UCXBPF_CMD_TRACE_CAPTURE_NAME_H

#define CAPTURE_NAME_PLACEHOLDERS "%h, %p, %r, %j, %s, %t or %%"

/*
 * The name that a template stands for, to be freed: %h is the host's name up to its first dot, %p
 * this process's id, %t the time in UTC (20261128T013000); %r, %j and %s are the rank, job and step
 * that launcher and batch system name in this process's environment, "none" where they do not; %%
 * is a percent sign. Characters of values that are unusual in file names become underscores. NULL:
 * a percent sign is followed by something else.
 */
char *capture_name(const char *template);

/* The template where none is given: one name per process where this one is a rank of a job. */
const char *capture_name_default(void);

#endif
