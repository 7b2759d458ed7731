/* SPDX-License-Identifier: BSD-3-Clause */
/* How a site starts programs on its nodes: a table. */
#ifndef UCXBPF_SWEEP_LAUNCHER_H
#define UCXBPF_SWEEP_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>

#include "site/sweep/command.h"

enum sweep_mpi { SWEEP_OPENMPI, SWEEP_MPICH, SWEEP_MPIS };

extern const char *const sweep_mpi_names[SWEEP_MPIS]; /* "openmpi", "mpich" */

struct launch {
	const struct launcher *launcher;
	enum sweep_mpi mpi;
	const char *rsh; /* of hosts: a command that is given a node and a command line */
	const char *mpirun; /* of hosts; NULL: by the MPI's usual names */
	const struct command *job_options; /* more of srun or mpirun, for the MPI job */
	const char *inside; /* of Slurm: the job to start on nodes in; NULL: the surrounding one */
};

struct job_size {
	char *const *nodes;
	size_t count;
	int ranks; /* on each node */
};

struct launcher {
	const char *name;
	/*
	 * Appends the words that run a command on one node, which gets the standard input and its
	 * end.
	 */
	void (*on_node)(const struct launch *launch, const char *node, const struct command *what,
			struct command *out);
	/* Command line that starts an MPI job. */
	void (*job)(const struct launch *launch, const struct job_size *size,
		    const struct command *what, struct command *out);
};

#define LAUNCH_RSH "ssh -o BatchMode=yes -o ConnectTimeout=10" /* unless a user names another */

extern const struct launcher launcher_slurm;

/* NULL: unknown name. */
const struct launcher *launcher_of(const char *name);

#define SLURM_WHY 256

/*
 * Adds the nodes that Slurm can allocate to usable, and a reason such as "n7: down*" for each of
 * the others. False: sinfo failed with the message why; then all are usable.
 */
bool slurm_usable(char *const *nodes, size_t count, struct command *usable, struct command *others,
		  char why[SLURM_WHY]);

/*
 * Adds three words for each component of a job, and for each task of a job array: its own id, its
 * state, and its nodes as in n[0-3] ("" before it runs). False: squeue failed with the message why.
 */
bool slurm_job(const char *id, struct command *parts, char why[SLURM_WHY]);

/* The nodes of a component of the surrounding heterogeneous allocation, or NULL.
 */
const char *slurm_group(int group);

/* Number of other jobs that run on any of these nodes (printed). */
size_t slurm_others(char *const *nodes, size_t count);

/* n0,n1,n2; the caller's. */
char *node_list(char *const *nodes, size_t count);

#endif
