/* SPDX-License-Identifier: BSD-3-Clause */
/* `sweep run`: from its arguments to the verdict. */
#ifndef UCXBPF_CMD_SWEEP_START_H
#define UCXBPF_CMD_SWEEP_START_H

struct sweep_arguments;

/* argv: of the subcommand, to be started again inside an allocation. Returns the exit status. */
int sweep_start(struct sweep_arguments *arguments, char **argv);

#endif
