// SPDX-License-Identifier: BSD-3-Clause
#include "base/mpi_function.h"

#include <ctype.h>
#include <string.h>

#include "base/vec.h"

static const struct {
	const char *name; /* behind "MPI_" */
	enum collective_flow flow;
} collectives[COLLECTIVES] = {
	[COLLECTIVE_BARRIER] = { "Barrier", FLOW_BARRIER },
	[COLLECTIVE_BCAST] = { "Bcast", FLOW_FROM_ROOT },
	[COLLECTIVE_GATHER] = { "Gather", FLOW_TO_ROOT },
	[COLLECTIVE_GATHERV] = { "Gatherv", FLOW_TO_ROOT },
	[COLLECTIVE_SCATTER] = { "Scatter", FLOW_FROM_ROOT },
	[COLLECTIVE_SCATTERV] = { "Scatterv", FLOW_FROM_ROOT },
	[COLLECTIVE_ALLGATHER] = { "Allgather", FLOW_ALL },
	[COLLECTIVE_ALLGATHERV] = { "Allgatherv", FLOW_ALL },
	[COLLECTIVE_ALLTOALL] = { "Alltoall", FLOW_ALL },
	[COLLECTIVE_ALLTOALLV] = { "Alltoallv", FLOW_ALL },
	[COLLECTIVE_ALLTOALLW] = { "Alltoallw", FLOW_ALL },
	[COLLECTIVE_ALLREDUCE] = { "Allreduce", FLOW_ALL },
	[COLLECTIVE_REDUCE] = { "Reduce", FLOW_TO_ROOT },
	[COLLECTIVE_REDUCE_SCATTER] = { "Reduce_scatter", FLOW_ALL },
	[COLLECTIVE_REDUCE_SCATTER_BLOCK] = { "Reduce_scatter_block", FLOW_ALL },
	[COLLECTIVE_SCAN] = { "Scan", FLOW_PREFIX },
	[COLLECTIVE_EXSCAN] = { "Exscan", FLOW_PREFIX },
};

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

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

/* How the names of functions begin that start an operation, or look at one, and go on. */
static const char *const early[] = {
	"Test",
	"Start",
	"Bsend",
	"Put",
	"Get",
	"Rput",
	"Rget",
	"Accumulate",
	"Raccumulate",
	"Fetch_and_op",
	"Compare_and_swap",
	"Cancel",
	"Request_free",
};

/* MPI_Init, MPI_Info_create, MPI_Intercomm_create, MPI_Is_thread_main. */
static bool is_immediate(const char *name)
{
	if (begins(name, "Ineighbor"))
		return true;
	return name[0] == 'I' && islower((unsigned char)name[1]) && !begins(name, "In") &&
	       !begins(name, "Is_");
}

static bool returns_early(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(early); i++)
		if (begins(name, early[i]))
			return true;
	return is_immediate(name) || strstr(name, "_init");
}

struct mpi_function mpi_function(const char *function)
{
	struct mpi_function found = { 0 };
	const char *name;

	if (!function || !begins(function, "MPI_"))
		return found;
	name = function + strlen("MPI_");
	found.blocks = !returns_early(name);
	found.completes = begins(name, "Wait");
	found.begins = begins(name, "Init") || begins(name, "Session_init");
	found.frees = begins(name, "Comm_free") || begins(name, "Comm_disconnect");
	for (int i = 0; i < COLLECTIVES; i++) {
		if (!is_name(name, collectives[i].name) &&
		    !is_nonblocking(name, collectives[i].name))
			continue;
		found.collective = true;
		found.kind = (enum collective_kind)i;
		found.flow = collectives[i].flow;
		break;
	}
	return found;
}
