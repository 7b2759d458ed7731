/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI functions by name: which are collective, and which wait for operations. */
#ifndef UCXBPF_BASE_MPI_FUNCTION_H
#define UCXBPF_BASE_MPI_FUNCTION_H

#include <stdbool.h>

/* Which ranks the data of a collective goes from and to. */
enum collective_flow {
	FLOW_BARRIER, /* no data, and all wait for all */
	FLOW_ALL, /* from all to all */
	FLOW_FROM_ROOT,
	FLOW_TO_ROOT,
	FLOW_PREFIX, /* to each rank from those before it */
};

enum collective_kind {
	COLLECTIVE_BARRIER,
	COLLECTIVE_BCAST,
	COLLECTIVE_GATHER,
	COLLECTIVE_GATHERV,
	COLLECTIVE_SCATTER,
	COLLECTIVE_SCATTERV,
	COLLECTIVE_ALLGATHER,
	COLLECTIVE_ALLGATHERV,
	COLLECTIVE_ALLTOALL,
	COLLECTIVE_ALLTOALLV,
	COLLECTIVE_ALLTOALLW,
	COLLECTIVE_ALLREDUCE,
	COLLECTIVE_REDUCE,
	COLLECTIVE_REDUCE_SCATTER,
	COLLECTIVE_REDUCE_SCATTER_BLOCK,
	COLLECTIVE_SCAN,
	COLLECTIVE_EXSCAN,
	COLLECTIVES
};

struct mpi_function {
	bool collective; /* then kind and flow mean something */
	enum collective_kind kind;
	enum collective_flow flow;
	bool blocks; /* it returns only once the operations that it began are complete */
	bool completes; /* it waits for operations of earlier calls: MPI_Wait, MPI_Waitall... */
	bool begins; /* MPI, for its process: MPI_Init... */
	bool frees; /* a communicator, whose handle may mean another one later */
};

/*
 * function: such as MPI_Allreduce, MPI_Allreduce_c, MPI_Iallreduce. Neighbourhood and persistent
 * collectives do not count as collectives here. NULL, or no MPI function: all members are zero.
 */
struct mpi_function mpi_function(const char *function);

#endif
