/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sweep in parts, as a job array of Slurm: a task per part, each on nodes of its own, and a job
 * that judges the results when all parts have ended, successfully or not. If it finds slow nodes,
 * it submits one more job, on these and the nodes that they are compared with.
 */
#ifndef UCXBPF_SWEEP_ARRAY_H
#define UCXBPF_SWEEP_ARRAY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "site/sweep/command.h"

#define ARRAY_ID 32

struct array_task {
	uint32_t part;
	char *nodes; /* n0,n1; its own */
};

struct array_job {
	const char *folder; /* their output goes to log/ there */
	struct command part; /* how a part is carried out, but for its number */
	struct command judge; /* how all of it is judged */
	struct command confirm; /* confirms slow nodes; empty: no confirmation */
	VEC(struct array_task) tasks;
	unsigned int at_once; /* tasks; 0: all */
	unsigned int minutes; /* that a task may take */
	bool shared; /* on nodes of others, too */
	char id[ARRAY_ID], judge_id[ARRAY_ID], confirm_id[ARRAY_ID]; /* once they are submitted */
};

/* The job that confirms; words, since they are not known before the parts are judged. */
struct array_confirmation {
	const char *count, *nodes, *minutes; /* nodes: n0,n1 */
};

void array_release(struct array_job *job);

/*
 * Prints every command line that array_submit() would start; ARRAY stands for the first one's
 * answer.
 */
void array_print(const struct array_job *job, FILE *out);

/* Returns 0, or -EIO, which was printed; then nothing of it is left in Slurm. */
int array_submit(struct array_job *job);

/*
 * In the judging job: submits the confirming one, and records its id. 0, or -errno, which was
 * printed.
 */
int array_confirm(struct array_job *job, const struct array_confirmation *what);

/* Whether the confirming job was submitted: then confirm_id is set. */
bool array_confirms(struct array_job *job);

struct array_state {
	size_t waiting, running; /* tasks, and the job that confirms */
	bool judged; /* the job that judges has ended, too, or is gone */
};

/* If squeue does not answer, the state stays the same. */
void array_look(const struct array_job *job, struct array_state *state);

/* Cancels waiting parts; running ones are asked to end and to keep their results. */
void array_interrupt(struct array_job *job);

/* What is left of it. */
void array_cancel(const struct array_job *job);

#endif
