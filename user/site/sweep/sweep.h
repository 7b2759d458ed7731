/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carries out a sweep: on every node the inventory, then the traffic of a plan with a tracer
 * attached, then the inventory again; all into one folder that every node sees (docs/sweep.md).
 * Answers that a node does not give in time are missing; the sweep goes on.
 */
#ifndef UCXBPF_SWEEP_SWEEP_H
#define UCXBPF_SWEEP_SWEEP_H

#include <stdbool.h>
#include <stdio.h>

#include "site/plan/make.h"
#include "site/sweep/launcher.h"

struct signals;

struct sweep_options {
	struct launch launch;
	struct plan_options plan; /* nodes not to use */
	struct plan *given; /* plan to carry out, the caller's; NULL: a new one */
	bool confirms; /* only its confirming stage */
	uint32_t part; /* of a plan in parts */
	const struct policy *policy;
	const char *folder; /* absolute */
	char *const *nodes; /* that take part */
	size_t node_count;
	const char *program; /* how this program is called on a node: "sudo -n /usr/bin/ucxbpf" */
	const char *traffic; /* path of the traffic program of the launch's MPI */
	const char *budget; /* of the tracers, as attach takes it; NULL: none */
	double answer_s; /* time limit of each request to a node */
	double traffic_s; /* for all of the traffic; 0: by the plan's estimate */
	bool progress; /* on standard error */
};

enum sweep_result {
	SWEEP_DONE, /* the traffic completed; the results can be judged */
	SWEEP_CUT, /* it did not; likewise */
	SWEEP_INTERRUPTED, /* likewise; signal_number says by what */
	SWEEP_FAILED, /* there is nothing to judge; the reason was printed */
};

enum sweep_result sweep_run(const struct sweep_options *options, const struct signals *signals,
			    int *signal_number);

/* Time limit of the whole sweep; before it begins, as no link's rate is known. */
double sweep_seconds(const struct sweep_options *options, const struct plan *plan);

/* Prints the command lines that sweep_run() would start; starts none. -EINVAL: no plan; printed. */
int sweep_dry_run(const struct sweep_options *options, FILE *out);

/*
 * A sweep's part on each node, started once per node; it exchanges lines with the process that
 * started it (node.c). folder: nodes/NODE of the sweep. Returns the exit status.
 */
int sweep_node(const char *folder);

#endif
