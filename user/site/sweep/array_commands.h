/* SPDX-License-Identifier: BSD-3-Clause */
/* The command lines of a job array, each of which is appended to out. Private to sweep/. */
#ifndef UCXBPF_SWEEP_ARRAY_COMMANDS_H
#define UCXBPF_SWEEP_ARRAY_COMMANDS_H

#include "site/sweep/array.h"

/* Held until each task has its nodes, which are the same for all tasks of an array otherwise. */
void array_parts_command(const struct array_job *job, struct command *out);

/* The nodes of a task. id: of the array. */
void array_nodes_command(const struct array_task *task, const char *id, struct command *out);

/* The job that judges, once the array is over. */
void array_judge_command(const struct array_job *job, const char *id, struct command *out);

void array_confirm_command(const struct array_job *job, const struct array_confirmation *what,
			   struct command *out);

/* What Slurm is told to do with a job: "scancel --quiet". */
void array_told_command(const char *line, const char *id, struct command *out);

#endif
