/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of the nodes Slurm can give, and what is said of the others. */
#ifndef UCXBPF_CMD_SWEEP_USABLE_H
#define UCXBPF_CMD_SWEEP_USABLE_H

#include "cmd/sweep/args.h"
#include "site/policy/policy.h"

/*
 * -ENODEV: it can give none; -EIO: Slurm does not answer, which a dry run goes on from with all of
 * them. Both are said.
 */
int sweep_usable(const struct sweep_arguments *arguments, const texts *nodes,
		 struct command *usable);

#endif
