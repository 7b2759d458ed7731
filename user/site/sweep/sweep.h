/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carries out a sweep: on every node the inventory, then the traffic of a plan with a tracer
 * attached, then the inventory again; all into one folder that every node sees (docs/sweep.md).
 * What a node does not answer in time is missing of that node; the sweep goes on.
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
	struct plan_options plan; /* its nodes are not used */
	struct plan *given; /* is carried out, the caller's; NULL: a new one */
	bool confirms; /* its stage that confirms, and no other one */
	uint32_t part; /* of a plan in parts */
	const struct policy *policy;
	const char *folder; /* absolute */
	char *const *nodes; /* that take part */
	size_t node_count;
	const char *program; /* how this program is called on a node: "sudo -n /usr/bin/ucxbpf" */
	const char *traffic; /* path of the traffic program of the launch's MPI */
	const char *budget; /* of the tracers, as attach takes it; NULL: none */
	double answer_s; /* for each thing that a node is asked */
	double traffic_s; /* for all of the traffic; 0: by the plan's estimate */
	bool progress; /* on standard error */
};

enum sweep_result {
	SWEEP_DONE, /* the traffic completed; the results can be judged */
	SWEEP_CUT, /* it did not; likewise */
	SWEEP_INTERRUPTED, /* likewise; signal_number says by what */
	SWEEP_FAILED, /* there is nothing to judge; why has been said */
};

enum sweep_result sweep_run(const struct sweep_options *options, const struct signals *signals,
			    int *signal_number);

/* Within which all of it ends, or is stopped; before it begins, as no link's rate is known. */
double sweep_seconds(const struct sweep_options *options, const struct plan *plan);

/* Every command line that sweep_run() would start, and nothing else. -EINVAL: no plan; said. */
int sweep_dry_run(const struct sweep_options *options, FILE *out);

/*
 * A sweep's part on each node, started there once per node; it speaks lines with who started it
 * (node.c). folder: nodes/NODE of the sweep. Returns the exit status.
 */
int sweep_node(const char *folder);

#endif
