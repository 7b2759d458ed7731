/* SPDX-License-Identifier: BSD-3-Clause */
/* Which process forked which, from records that come in any order. */
#ifndef UCXBPF_CAPTURE_ORIGINS_H
#define UCXBPF_CAPTURE_ORIGINS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/map.h"

struct origins {
	struct map all; /* tgid -> struct origin *, owned */
};

void origins_release(struct origins *origins);

/* The process was forked by another one at time, CLOCK_MONOTONIC ns. */
void origins_fork(struct origins *origins, pid_t tgid, pid_t parent, uint64_t time);

/* It began another program at time ns, likewise. */
void origins_exec(struct origins *origins, pid_t tgid, uint64_t time);

/* Whether a fork record names its parent. */
bool origins_forked(const struct origins *origins, pid_t tgid);

/*
 * The process that it was forked from, if both still run the same program; 0: not known, or one of
 * them has begun another program.
 */
pid_t origins_parent(const struct origins *origins, pid_t tgid);

/* Forgets a process that ended at time ns. False: a later one has its number. */
bool origins_end(struct origins *origins, pid_t tgid, uint64_t time);

/* Forgets processes: later ones with their numbers have forked nobody. gone: by tgid. */
void origins_end_parents(struct origins *origins, const struct map *gone);

#endif
