/* SPDX-License-Identifier: BSD-3-Clause */
/* What `sweep` was asked for. */
#ifndef UCXBPF_SWEEP_ARGS_H
#define UCXBPF_SWEEP_ARGS_H

#include <argp.h>
#include <stdbool.h>

#include "base/vec.h"
#include "plan/make.h"
#include "policy/policy.h"
#include "sweep/command.h"
#include "sweep/launcher.h"

struct sweep_arguments {
	const char *verb;
	VEC(const char *) files; /* behind the verb */
	const char *policy_path; /* NULL: the catalogue's defaults */
	const char *nodes; /* as in n[0-3]; NULL: those of the policy */
	const char *hosts; /* a file with a node a line; NULL: none */
	const char *output;
	const char *program, *traffic; /* NULL: this one, and the one beside it */
	const char *format; /* of the report; NULL: text */
	struct launch launch;
	struct command job_options;
	struct plan_options plan;
	double answer_s, traffic_s;
	bool dry_run, shared, warn_ok, quiet, no_confirm;
};

/* A child of each verb's parser; its input is a struct sweep_arguments. */
extern const struct argp sweep_argp;

/*
 * The nodes that take part: of the arguments, else of an allocation that this runs in, else of the
 * policy, which owns the names. -EINVAL: none, or no list; said.
 */
int sweep_nodes(const struct sweep_arguments *arguments, struct policy *policy, texts *nodes);

#endif
