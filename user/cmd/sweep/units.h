/* SPDX-License-Identifier: BSD-3-Clause */
/* What is gathered together: a folder's files, or those that are named singly. */
#ifndef UCXBPF_CMD_SWEEP_UNITS_H
#define UCXBPF_CMD_SWEEP_UNITS_H

#include <stdbool.h>

#include "base/vec.h"

struct unit {
	const char *name; /* of the folder, or of its first file */
	VEC(char *) files;
};

struct units {
	VEC(struct unit) list;
};

/*
 * In an order that does not depend on the one of the names: files named singly are one unit, a file
 * of evidence and a folder one each. Of a folder, what is no file of ours is left out. Returns
 * -errno of a name that cannot be looked at, which is said.
 */
int units_find(struct units *units, char *const *names, size_t count);
void units_release(struct units *units);

struct shard {
	unsigned long index, count; /* 0 and 1: all */
};

/* "3/16", or "auto": as the environment of a Slurm array, srun or mpirun says. */
bool shard_parse(struct shard *shard, const char *text);

#endif
