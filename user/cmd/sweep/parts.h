/* SPDX-License-Identifier: BSD-3-Clause */
/* A sweep in parts: submitted as a job array, waited for, judged; and one part as its task. */
#ifndef UCXBPF_CMD_SWEEP_PARTS_H
#define UCXBPF_CMD_SWEEP_PARTS_H

#include "cmd/sweep/args.h"
#include "site/policy/policy.h"
#include "site/sweep/sweep.h"

struct sweep_parts {
	struct sweep_arguments *arguments;
	const struct sweep_options *options;
	const texts *nodes;
	const char *self; /* this program's path */
	char **argv; /* as it was called, from "sweep" on */
};

/* Returns the exit status. */
int sweep_parts(const struct sweep_parts *parts);

/*
 * The job that depends on the array: judges, keeps the report, and submits the confirming job if a
 * node is slow. Returns the exit status.
 */
int sweep_parts_judge(const struct sweep_parts *parts);

/* ---- one part, as a task of the job array ---- */

/*
 * Carries one part out in parts/N of the folder, by the plan there, on its nodes within the
 * allocation, then gathers the results into parts/N.evidence. Returns the exit status, which does
 * not depend on the verdict.
 */
int sweep_part(const struct sweep_arguments *arguments, const struct sweep_options *options);

#endif
