/* SPDX-License-Identifier: BSD-3-Clause */
/* --all-nodes of `attach` and `top`: its options, and the nodes that they mean. */
#ifndef UCXBPF_CMD_NODES_ARGS_H
#define UCXBPF_CMD_NODES_ARGS_H

#include <argp.h>
#include <stdbool.h>

#include "base/vec.h"
#include "site/policy/policy.h"
#include "site/sweep/launcher.h"

struct nodes_arguments {
	bool all; /* --all-nodes */
	const char *given; /* the first of the options that need it; NULL: none */
	const struct launcher *launcher; /* NULL: as the job is */
	const char *rsh, *hosts, *list, *program; /* NULL: not given */
	double answer_s;
};

/* argp child parser; its input is a struct nodes_arguments. */
extern const struct argp nodes_argp;

/* Process ids are of one node: refuses them together with --all-nodes. */
void nodes_check_pids(const struct nodes_arguments *arguments, size_t pids,
		      struct argp_state *state);

struct node_of_job {
	const char *name;
	const char *job; /* as the processes there have it; NULL: all that use UCX or MPI */
};

/* Zeroed at first. */
struct nodes_of_job {
	VEC(struct node_of_job) list; /* each node once */
	struct launch launch; /* how they are reached */
	struct policy *names; /* owns the names */
	struct command parts; /* and the ids */
};

/*
 * The nodes of a job: those of the options, else those of the batch system's variables in this
 * environment if they belong to that job, else those that Slurm lists. job NULL: none. 0, or -errno
 * (printed).
 */
int nodes_find(const struct nodes_arguments *arguments, const char *job,
	       struct nodes_of_job *nodes);

void nodes_release(struct nodes_of_job *nodes);

#endif
