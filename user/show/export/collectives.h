/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's collective functions by name, as far as OTF2 has a word for them. */
#ifndef UCXBPF_EXPORT_COLLECTIVES_H
#define UCXBPF_EXPORT_COLLECTIVES_H

#include <otf2/otf2.h>
#include <stdbool.h>

struct collective {
	const char *name; /* without its "MPI_" */
	OTF2_CollectiveOp op;
	bool rooted; /* one process is its root */
	bool moves; /* payload: all but a barrier */
};

/*
 * The row of a function: MPI_Allreduce, MPI_Allreduce_c, MPI_Iallreduce; NULL: of none. *blocks:
 * false for the latter.
 */
const struct collective *collective_find(const char *function, bool *blocks);

#endif
