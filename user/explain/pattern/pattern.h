/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which algorithm a collective operation followed, by its messages alone: who sent to whom, in
 * which order, and how much (docs/collectives.md). The patterns are those of Open MPI 4.1
 * (ompi/mca/coll/base) and MPICH 4.0 (src/mpi/coll). A name is given only where one pattern fits.
 *
 * Layers: view.c; exchange.c and tree.c, the patterns; pattern.c, the table of them.
 */
#ifndef UCXBPF_PATTERN_PATTERN_H
#define UCXBPF_PATTERN_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mpi_function.h"

/* Members are numbered from 0, in any order. */
struct pattern_message {
	uint32_t from, to;
	uint64_t bytes; /* UINT64_MAX: not known */
	uint64_t sent; /* ns, on the sender's clock: its operation began */
	uint64_t posted, arrived; /* likewise on the receiver's; posted: its operation began */
};

struct algorithm {
	const char *name; /* static; NULL: unknown */
	char reason[160]; /* why it is unknown; "": it is known */
	bool several; /* it is unknown since several known ones fit, which are named in reason */
	unsigned int rounds; /* messages that had to wait for each other; 0: unknown */
	bool in_parts; /* messages were sent in parts: rounds is a lower bound */
};

struct patterns; /* memory that lookups share */

struct patterns *patterns_new(void);
void patterns_free(struct patterns *patterns);

/* All messages of an operation of two members or more; each member sends or receives. */
struct algorithm pattern_find(struct patterns *patterns, enum collective_kind kind,
			      unsigned int members, const struct pattern_message *messages,
			      size_t count);

#endif
