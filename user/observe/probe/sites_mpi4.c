// SPDX-License-Identifier: BSD-3-Clause
/*
 * What MPI-4.0 adds (prototypes: mpi.h of MPICH 4.0.2; columns as in sites_mpi.c), its large-count
 * forms, which have bodies of their own, and the persistent collectives that Open MPI 4.1 exports
 * under MPIX names. A library without them is not incomplete.
 */
#include "observe/probe/sites_tables.h"

#include "base/array.h"

static const struct site rows[] = {
	/* clang-format off */
	/* Partitioned, sessions, new in 4.0 */
	SITE_CALL(Psend_init, 7), SITE_CALL(Precv_init, 7), SITE_CALL(Pready, 0),
	SITE_CALL(Pready_range, 0), SITE_CALL(Pready_list, 0), SITE_CALL(Parrived, 0),
	SITE_CALL(Isendrecv, 11), SITE_CALL(Isendrecv_replace, 8), SITE_CALL(Session_init, 0),
	SITE_CALL(Session_finalize, 0), SITE_CALL(Comm_create_from_group, 0),
	SITE_CALL(Intercomm_create_from_groups, 0), SITE_CALL(Comm_idup_with_info, 1),

	/* Persistent collectives */
	SITE_CALL(Barrier_init, 1), SITE_CALL(Bcast_init, 5), SITE_CALL(Gather_init, 8),
	SITE_CALL(Gatherv_init, 9), SITE_CALL(Scatter_init, 8), SITE_CALL(Scatterv_init, 9),
	SITE_CALL(Allgather_init, 7), SITE_CALL(Allgatherv_init, 8), SITE_CALL(Alltoall_init, 7),
	SITE_CALL(Alltoallv_init, 9), SITE_CALL(Alltoallw_init, 9), SITE_CALL(Reduce_init, 7),
	SITE_CALL(Allreduce_init, 6), SITE_CALL(Reduce_scatter_block_init, 6),
	SITE_CALL(Reduce_scatter_init, 6), SITE_CALL(Scan_init, 6), SITE_CALL(Exscan_init, 6),
	SITE_CALL(Neighbor_allgather_init, 7), SITE_CALL(Neighbor_allgatherv_init, 8),
	SITE_CALL(Neighbor_alltoall_init, 7), SITE_CALL(Neighbor_alltoallv_init, 9),
	SITE_CALL(Neighbor_alltoallw_init, 9),

	/* Large counts */
	SITE_CALL_C(Send, 6), SITE_CALL_C(Bsend, 6), SITE_CALL_C(Ssend, 6), SITE_CALL_C(Rsend, 6),
	SITE_CALL_C(Recv, 6), SITE_CALL_C(Sendrecv, 11), SITE_CALL_C(Sendrecv_replace, 8),
	SITE_CALL_C(Isend, 6), SITE_CALL_C(Ibsend, 6), SITE_CALL_C(Issend, 6),
	SITE_CALL_C(Irsend, 6), SITE_CALL_C(Irecv, 6), SITE_CALL_C(Mrecv, 0),
	SITE_CALL_C(Imrecv, 0), SITE_CALL_C(Buffer_detach, 0), SITE_CALL_C(Send_init, 6),
	SITE_CALL_C(Bsend_init, 6), SITE_CALL_C(Ssend_init, 6), SITE_CALL_C(Rsend_init, 6),
	SITE_CALL_C(Recv_init, 6), SITE_CALL_C(Bcast, 5), SITE_CALL_C(Gather, 8),
	SITE_CALL_C(Gatherv, 9), SITE_CALL_C(Scatter, 8), SITE_CALL_C(Scatterv, 9),
	SITE_CALL_C(Allgather, 7), SITE_CALL_C(Allgatherv, 8), SITE_CALL_C(Alltoall, 7),
	SITE_CALL_C(Alltoallv, 9), SITE_CALL_C(Alltoallw, 9), SITE_CALL_C(Reduce, 7),
	SITE_CALL_C(Allreduce, 6), SITE_CALL_C(Reduce_scatter_block, 6),
	SITE_CALL_C(Reduce_scatter, 6), SITE_CALL_C(Scan, 6), SITE_CALL_C(Exscan, 6),
	SITE_CALL_C(Neighbor_allgather, 7), SITE_CALL_C(Neighbor_allgatherv, 8),
	SITE_CALL_C(Neighbor_alltoall, 7), SITE_CALL_C(Neighbor_alltoallv, 9),
	SITE_CALL_C(Neighbor_alltoallw, 9), SITE_CALL_C(Ibcast, 5), SITE_CALL_C(Igather, 8),
	SITE_CALL_C(Igatherv, 9), SITE_CALL_C(Iscatter, 8), SITE_CALL_C(Iscatterv, 9),
	SITE_CALL_C(Iallgather, 7), SITE_CALL_C(Iallgatherv, 8), SITE_CALL_C(Ialltoall, 7),
	SITE_CALL_C(Ialltoallv, 9), SITE_CALL_C(Ialltoallw, 9), SITE_CALL_C(Ireduce, 7),
	SITE_CALL_C(Iallreduce, 6), SITE_CALL_C(Ireduce_scatter_block, 6),
	SITE_CALL_C(Ireduce_scatter, 6), SITE_CALL_C(Iscan, 6), SITE_CALL_C(Iexscan, 6),
	SITE_CALL_C(Ineighbor_allgather, 7), SITE_CALL_C(Ineighbor_allgatherv, 8),
	SITE_CALL_C(Ineighbor_alltoall, 7), SITE_CALL_C(Ineighbor_alltoallv, 9),
	SITE_CALL_C(Ineighbor_alltoallw, 9), SITE_CALL_C(Put, 0), SITE_CALL_C(Get, 0),
	SITE_CALL_C(Accumulate, 0), SITE_CALL_C(Get_accumulate, 0), SITE_CALL_C(Rput, 0),
	SITE_CALL_C(Rget, 0), SITE_CALL_C(Raccumulate, 0), SITE_CALL_C(Rget_accumulate, 0),
	SITE_CALL_C(Win_create, 5), SITE_CALL_C(Win_allocate, 4),
	SITE_CALL_C(Win_allocate_shared, 4), SITE_CALL_C(Isendrecv, 11),
	SITE_CALL_C(Isendrecv_replace, 8), SITE_CALL_C(Bcast_init, 5), SITE_CALL_C(Gather_init, 8),
	SITE_CALL_C(Gatherv_init, 9), SITE_CALL_C(Scatter_init, 8), SITE_CALL_C(Scatterv_init, 9),
	SITE_CALL_C(Allgather_init, 7), SITE_CALL_C(Allgatherv_init, 8),
	SITE_CALL_C(Alltoall_init, 7), SITE_CALL_C(Alltoallv_init, 9),
	SITE_CALL_C(Alltoallw_init, 9), SITE_CALL_C(Reduce_init, 7),
	SITE_CALL_C(Allreduce_init, 6), SITE_CALL_C(Reduce_scatter_block_init, 6),
	SITE_CALL_C(Reduce_scatter_init, 6), SITE_CALL_C(Scan_init, 6),
	SITE_CALL_C(Exscan_init, 6), SITE_CALL_C(Neighbor_allgather_init, 7),
	SITE_CALL_C(Neighbor_allgatherv_init, 8), SITE_CALL_C(Neighbor_alltoall_init, 7),
	SITE_CALL_C(Neighbor_alltoallv_init, 9), SITE_CALL_C(Neighbor_alltoallw_init, 9),

	/* Open MPI 4.1's preview of persistent collectives */
	SITE_CALL_X(Barrier_init, 1), SITE_CALL_X(Bcast_init, 5), SITE_CALL_X(Gather_init, 8),
	SITE_CALL_X(Gatherv_init, 9), SITE_CALL_X(Scatter_init, 8), SITE_CALL_X(Scatterv_init, 9),
	SITE_CALL_X(Allgather_init, 7), SITE_CALL_X(Allgatherv_init, 8),
	SITE_CALL_X(Alltoall_init, 7), SITE_CALL_X(Alltoallv_init, 9),
	SITE_CALL_X(Alltoallw_init, 9), SITE_CALL_X(Reduce_init, 7),
	SITE_CALL_X(Allreduce_init, 6), SITE_CALL_X(Reduce_scatter_block_init, 6),
	SITE_CALL_X(Reduce_scatter_init, 6), SITE_CALL_X(Scan_init, 6),
	SITE_CALL_X(Exscan_init, 6), SITE_CALL_X(Neighbor_allgather_init, 7),
	SITE_CALL_X(Neighbor_allgatherv_init, 8), SITE_CALL_X(Neighbor_alltoall_init, 7),
	SITE_CALL_X(Neighbor_alltoallv_init, 9), SITE_CALL_X(Neighbor_alltoallw_init, 9),
	/* clang-format on */
};

const struct site_table sites_mpi4 = { rows, ARRAY_SIZE(rows), 0, NULL };
