/* SPDX-License-Identifier: BSD-3-Clause */
/* Which nodes take part in a sweep. */
#ifndef UCXBPF_CMD_SWEEP_NODES_H
#define UCXBPF_CMD_SWEEP_NODES_H

#include "site/policy/policy.h"

struct sweep_arguments;

/*
 * Those of the arguments, else of an allocation that this runs in, else of the policy, which owns
 * the names. -EINVAL: none, or no list; said.
 */
int sweep_nodes(const struct sweep_arguments *arguments, struct policy *policy, texts *nodes);

#endif
