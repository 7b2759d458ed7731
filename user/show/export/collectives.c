// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/collectives.h"

#include <ctype.h>
#include <string.h>

static const struct collective rows[] = {
#define ROW(name, word, rooted, moves)                                                             \
	{                                                                                          \
		name, OTF2_COLLECTIVE_OP_##word, rooted, moves                                     \
	}
	ROW("Barrier", BARRIER, false, false),
	ROW("Bcast", BCAST, true, true),
	ROW("Gather", GATHER, true, true),
	ROW("Gatherv", GATHERV, true, true),
	ROW("Scatter", SCATTER, true, true),
	ROW("Scatterv", SCATTERV, true, true),
	ROW("Allgather", ALLGATHER, false, true),
	ROW("Allgatherv", ALLGATHERV, false, true),
	ROW("Alltoall", ALLTOALL, false, true),
	ROW("Alltoallv", ALLTOALLV, false, true),
	ROW("Alltoallw", ALLTOALLW, false, true),
	ROW("Allreduce", ALLREDUCE, false, true),
	ROW("Reduce", REDUCE, true, true),
	ROW("Reduce_scatter", REDUCE_SCATTER, false, true),
	ROW("Reduce_scatter_block", REDUCE_SCATTER_BLOCK, false, true),
	ROW("Scan", SCAN, false, true),
	ROW("Exscan", EXSCAN, false, true),
#undef ROW
};

/* Large-count forms end in "_c". */
static bool is_name(const char *name, const char *row)
{
	const size_t length = strlen(row);

	return !strncmp(name, row, length) && (!name[length] || !strcmp(name + length, "_c"));
}

/* "Iallreduce" is "allreduce" behind its letter. */
static bool is_nonblocking(const char *name, const char *row)
{
	return name[0] == 'I' && name[1] == tolower((unsigned char)row[0]) &&
	       is_name(name + 2, row + 1);
}

const struct collective *collective_find(const char *function, bool *blocks)
{
	const size_t prefix = strlen("MPI_");

	if (!function || strncmp(function, "MPI_", prefix) != 0)
		return NULL;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		*blocks = is_name(function + prefix, rows[i].name);
		if (*blocks || is_nonblocking(function + prefix, rows[i].name))
			return &rows[i];
	}
	return NULL;
}
