/* SPDX-License-Identifier: BSD-3-Clause */
/* The verbs of `sweep` that have a file of their own; each returns the exit status. */
#ifndef UCXBPF_CMD_SWEEP_VERBS_H
#define UCXBPF_CMD_SWEEP_VERBS_H

struct sweep_arguments;

/*
 * `sweep run`: from its arguments to the verdict. argv: of the subcommand, to be started again
 * inside an allocation.
 */
int sweep_start(struct sweep_arguments *arguments, char **argv);

/* `sweep merge`, which has options of its own. */
int sweep_merge(int argc, char **argv);

#endif
