/* SPDX-License-Identifier: BSD-3-Clause */
/* Which variables of a process's environment are kept: those that say how its messages travel. */
#ifndef UCXBPF_ENVIRONMENT_KEPT_H
#define UCXBPF_ENVIRONMENT_KEPT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Shell patterns of names, NULL behind the last one. All others are left where they are: an
 * environment may hold secrets.
 */
extern const char *const environment_patterns[];

/* Whether a pattern fits the name. */
bool environment_kept(const char *name);

/* Bytes of names and values that are kept of one process, at most. */
#define ENVIRONMENT_ROOM (16u << 10)

#endif
