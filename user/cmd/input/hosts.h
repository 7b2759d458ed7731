/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of nodes as users, files and batch systems list them. They are added to nodes in their
 * order, and to names, which owns them. Each returns 0, or -errno (printed).
 */
#ifndef UCXBPF_CMD_INPUT_HOSTS_H
#define UCXBPF_CMD_INPUT_HOSTS_H

#include "site/policy/policy.h"

/* n[0-3],m7 */
int hosts_from_list(const char *list, struct policy *names, texts *nodes);

/* A node a line, # begins a comment; PBS_NODEFILE names one once per slot. */
int hosts_from_file(const char *path, struct policy *names, texts *nodes);

/* "n0 4 n1 2": each with its number of slots, as LSB_MCPU_HOSTS has it. */
int hosts_from_slots(const char *list, struct policy *names, texts *nodes);

#endif
