// SPDX-License-Identifier: BSD-3-Clause
/*
 * Communicating functions of MPI-3.1, by their PMPI address: MPI_X is a weak alias of PMPI_X in
 * Open MPI and MPICH, and a tool that wraps MPI_X still ends in PMPI_X, so each call is seen once.
 * Second column: position of the communicator in the C prototype (mpi.h of Open MPI 4.1.4 and MPICH
 * 4.0.2), 0 = none. Communicators passed by address (Comm_free) are not read.
 */
#include "observe/probe/sites_tables.h"

#include "base/array.h"

static const struct site rows[] = {
	/* clang-format off */
	/* Point to point */
	SITE_CALL(Send, 6), SITE_CALL(Bsend, 6), SITE_CALL(Ssend, 6), SITE_CALL(Rsend, 6),
	SITE_CALL(Recv, 6), SITE_CALL(Sendrecv, 11), SITE_CALL(Sendrecv_replace, 8),
	SITE_CALL(Isend, 6), SITE_CALL(Ibsend, 6), SITE_CALL(Issend, 6), SITE_CALL(Irsend, 6),
	SITE_CALL(Irecv, 6), SITE_CALL(Probe, 3), SITE_CALL(Iprobe, 3), SITE_CALL(Mprobe, 3),
	SITE_CALL(Improbe, 3), SITE_CALL(Mrecv, 0), SITE_CALL(Imrecv, 0),
	SITE_CALL(Buffer_detach, 0),

	/* Persistent requests, completion */
	SITE_CALL(Send_init, 6), SITE_CALL(Bsend_init, 6), SITE_CALL(Ssend_init, 6),
	SITE_CALL(Rsend_init, 6), SITE_CALL(Recv_init, 6), SITE_CALL(Start, 0),
	SITE_CALL(Startall, 0), SITE_CALL(Request_free, 0), SITE_CALL(Cancel, 0),
	SITE_CALL(Wait, 0), SITE_CALL(Waitall, 0), SITE_CALL(Waitany, 0), SITE_CALL(Waitsome, 0),
	SITE_CALL(Test, 0), SITE_CALL(Testall, 0), SITE_CALL(Testany, 0), SITE_CALL(Testsome, 0),
	SITE_CALL(Request_get_status, 0),

	/* Collectives */
	SITE_CALL(Barrier, 1), SITE_CALL(Bcast, 5), SITE_CALL(Gather, 8), SITE_CALL(Gatherv, 9),
	SITE_CALL(Scatter, 8), SITE_CALL(Scatterv, 9), SITE_CALL(Allgather, 7),
	SITE_CALL(Allgatherv, 8), SITE_CALL(Alltoall, 7), SITE_CALL(Alltoallv, 9),
	SITE_CALL(Alltoallw, 9), SITE_CALL(Reduce, 7), SITE_CALL(Allreduce, 6),
	SITE_CALL(Reduce_scatter_block, 6), SITE_CALL(Reduce_scatter, 6), SITE_CALL(Scan, 6),
	SITE_CALL(Exscan, 6), SITE_CALL(Neighbor_allgather, 7), SITE_CALL(Neighbor_allgatherv, 8),
	SITE_CALL(Neighbor_alltoall, 7), SITE_CALL(Neighbor_alltoallv, 9),
	SITE_CALL(Neighbor_alltoallw, 9),

	/* Non-blocking collectives */
	SITE_CALL(Ibarrier, 1), SITE_CALL(Ibcast, 5), SITE_CALL(Igather, 8),
	SITE_CALL(Igatherv, 9), SITE_CALL(Iscatter, 8), SITE_CALL(Iscatterv, 9),
	SITE_CALL(Iallgather, 7), SITE_CALL(Iallgatherv, 8), SITE_CALL(Ialltoall, 7),
	SITE_CALL(Ialltoallv, 9), SITE_CALL(Ialltoallw, 9), SITE_CALL(Ireduce, 7),
	SITE_CALL(Iallreduce, 6), SITE_CALL(Ireduce_scatter_block, 6),
	SITE_CALL(Ireduce_scatter, 6), SITE_CALL(Iscan, 6), SITE_CALL(Iexscan, 6),
	SITE_CALL(Ineighbor_allgather, 7), SITE_CALL(Ineighbor_allgatherv, 8),
	SITE_CALL(Ineighbor_alltoall, 7), SITE_CALL(Ineighbor_alltoallv, 9),
	SITE_CALL(Ineighbor_alltoallw, 9),

	/* One-sided */
	SITE_CALL(Put, 0), SITE_CALL(Get, 0), SITE_CALL(Accumulate, 0),
	SITE_CALL(Get_accumulate, 0), SITE_CALL(Fetch_and_op, 0), SITE_CALL(Compare_and_swap, 0),
	SITE_CALL(Rput, 0), SITE_CALL(Rget, 0), SITE_CALL(Raccumulate, 0),
	SITE_CALL(Rget_accumulate, 0), SITE_CALL(Win_create, 5), SITE_CALL(Win_allocate, 4),
	SITE_CALL(Win_allocate_shared, 4), SITE_CALL(Win_create_dynamic, 2),
	SITE_CALL(Win_free, 0), SITE_CALL(Win_fence, 0), SITE_CALL(Win_start, 0),
	SITE_CALL(Win_complete, 0), SITE_CALL(Win_post, 0), SITE_CALL(Win_wait, 0),
	SITE_CALL(Win_test, 0), SITE_CALL(Win_lock, 0), SITE_CALL(Win_lock_all, 0),
	SITE_CALL(Win_unlock, 0), SITE_CALL(Win_unlock_all, 0), SITE_CALL(Win_flush, 0),
	SITE_CALL(Win_flush_all, 0), SITE_CALL(Win_flush_local, 0),
	SITE_CALL(Win_flush_local_all, 0), SITE_CALL(Win_sync, 0),

	/* Communicators and process groups */
	SITE_CALL(Init, 0), SITE_CALL(Init_thread, 0), SITE_CALL(Finalize, 0), SITE_CALL_NO_END(Abort, 1),
	SITE_CALL(Comm_create, 1), SITE_CALL(Comm_create_group, 1), SITE_CALL(Comm_dup, 1),
	SITE_CALL(Comm_dup_with_info, 1), SITE_CALL(Comm_idup, 1), SITE_CALL(Comm_split, 1),
	SITE_CALL(Comm_split_type, 1), SITE_CALL(Comm_free, 0), SITE_CALL(Comm_disconnect, 0),
	SITE_CALL(Comm_accept, 4), SITE_CALL(Comm_connect, 4), SITE_CALL(Comm_join, 0),
	SITE_CALL(Comm_spawn, 6), SITE_CALL(Comm_spawn_multiple, 7),
	SITE_CALL(Intercomm_create, 1), SITE_CALL(Intercomm_merge, 1), SITE_CALL(Cart_create, 1),
	SITE_CALL(Cart_sub, 1), SITE_CALL(Graph_create, 1), SITE_CALL(Dist_graph_create, 1),
	SITE_CALL(Dist_graph_create_adjacent, 1),
	/* clang-format on */
};

const struct site_table sites_mpi = { rows, ARRAY_SIZE(rows), LIB_MPI, NULL };
