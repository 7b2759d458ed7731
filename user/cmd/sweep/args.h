/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of `sweep`, and the nodes that they mean. */
#ifndef UCXBPF_CMD_SWEEP_ARGS_H
#define UCXBPF_CMD_SWEEP_ARGS_H

#include <argp.h>
#include <stdbool.h>

#include "base/vec.h"
#include "site/plan/make.h"
#include "site/sweep/command.h"
#include "site/policy/policy.h"
#include "site/sweep/launcher.h"

/* A later step of a sweep in parts, carried out as a job after its parts. */
enum sweep_step {
	SWEEP_NO_STEP,
	SWEEP_STEP_JUDGE, /* and submits the next one, if a node is slow */
	SWEEP_STEP_CONFIRM,
	SWEEP_STEPS
};

extern const char *const sweep_step_names[SWEEP_STEPS]; /* NULL, "judge", "confirm" */

struct sweep_arguments {
	const char *verb;
	VEC(const char *) files; /* behind the verb */
	const char *baseline; /* a sweep's folder, or evidence; NULL: none */
	const char *policy_path; /* NULL: the catalogue's defaults */
	const char *nodes; /* as in n[0-3]; NULL: those of the policy */
	const char *hosts; /* a file with a node a line; NULL: none */
	const char *output;
	const char *program, *traffic; /* NULL: this one, and the one beside it */
	const char *format; /* of the report; NULL: text */
	struct launch launch;
	struct command job_options;
	struct plan_options plan;
	const char *budget; /* of the tracers; NULL: none */
	double answer_s, traffic_s;
	unsigned int at_once; /* of the parts of a plan in parts; 0: all */
	enum sweep_step step;
	long part; /* that this process carries out, as a task of an array; -1: none */
	bool dry_run, shared, warn_ok, quiet, no_confirm, no_wait, keep;
};

/* A child of each verb's parser; its input is a struct sweep_arguments. */
extern const struct argp sweep_argp;

/*
 * The nodes that take part: those of the arguments, else of the allocation that this runs in, else
 * of the policy, which owns the names. -EINVAL: none, or no list (printed).
 */
int sweep_nodes(const struct sweep_arguments *arguments, struct policy *policy, texts *nodes);

/*
 * Adds the nodes that Slurm can allocate. -ENODEV: it has none; -EIO: Slurm does not answer, and a
 * dry run goes on with all of them. Both are printed.
 */
int sweep_usable(const struct sweep_arguments *arguments, const texts *nodes,
		 struct command *usable);

/* ---- verbs of `sweep` that have a file of their own; each returns the exit status ---- */

/*
 * `sweep run`: from its arguments to the verdict. argv: of the subcommand, to be started again
 * inside an allocation.
 */
int sweep_start(struct sweep_arguments *arguments, char **argv);

/* `sweep merge`, which has options of its own. */
int sweep_merge(int argc, char **argv);

#endif
