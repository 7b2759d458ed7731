// SPDX-License-Identifier: BSD-3-Clause
/*
 * Communicating functions of MPI-3.1, by their PMPI address: MPI_X is a weak alias of PMPI_X in
 * Open MPI and MPICH, and a tool that wraps MPI_X still ends in PMPI_X, so each call is seen once.
 * Second column: position of the communicator in the C prototype (mpi.h of Open MPI 4.1.4 and MPICH
 * 4.0.2), 0 = none. Communicators passed by address (Comm_free) are not read.
 */
#include "observe/probe/sites_tables.h"

static const struct site rows[] = {
	/* clang-format off */
	/* Point to point */
	SITE_CALL_OP(Send, 6, 1), SITE_CALL(Bsend, 6), SITE_CALL_OP(Ssend, 6, 2), SITE_CALL_OP(Rsend, 6, 3),
	SITE_CALL_OP(Recv, 6, 4), SITE_CALL(Sendrecv, 11), SITE_CALL(Sendrecv_replace, 8),
	SITE_CALL_OP(Isend, 6, 5), SITE_CALL(Ibsend, 6), SITE_CALL_OP(Issend, 6, 6), SITE_CALL_OP(Irsend, 6, 7),
	SITE_CALL_OP(Irecv, 6, 8), SITE_CALL(Probe, 3), SITE_CALL_POLL(Iprobe, 3), SITE_CALL(Mprobe, 3),
	SITE_CALL_POLL(Improbe, 3), SITE_CALL(Mrecv, 0), SITE_CALL(Imrecv, 0),
	SITE_CALL(Buffer_detach, 0),

	/* Persistent requests, completion */
	SITE_CALL(Send_init, 6), SITE_CALL(Bsend_init, 6), SITE_CALL(Ssend_init, 6),
	SITE_CALL(Rsend_init, 6), SITE_CALL(Recv_init, 6), SITE_CALL(Start, 0),
	SITE_CALL(Startall, 0), SITE_CALL(Request_free, 0), SITE_CALL(Cancel, 0),
	SITE_CALL(Wait, 0), SITE_CALL(Waitall, 0), SITE_CALL(Waitany, 0), SITE_CALL(Waitsome, 0),
	SITE_CALL_POLL(Test, 0), SITE_CALL_POLL(Testall, 0), SITE_CALL_POLL(Testany, 0), SITE_CALL_POLL(Testsome, 0),
	SITE_CALL_POLL(Request_get_status, 0),

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
	SITE_CALL_POLL(Win_test, 0), SITE_CALL(Win_lock, 0), SITE_CALL(Win_lock_all, 0),
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

/*
 * What MPI-4.0 adds (prototypes: mpi.h of MPICH 4.0.2; columns as above), its large-count
 * forms, which have bodies of their own, the persistent collectives that Open MPI 4.1 exports
 * under MPIX names, and extensions that communicate. A library without them is not incomplete.
 */

static const struct site mpi4_rows[] = {
	/* clang-format off */
	/* Partitioned, sessions, new in 4.0 */
	SITE_CALL(Psend_init, 7), SITE_CALL(Precv_init, 7), SITE_CALL(Pready, 0),
	SITE_CALL(Pready_range, 0), SITE_CALL(Pready_list, 0), SITE_CALL_POLL(Parrived, 0),
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

	/* After failures (ULFM). In Open MPI 5 the two names are two functions, of equal bodies */
	SITE_CALL_AS("MPIX_Comm_agree", "MPIX_Comm_agree", 1),
	SITE_CALL_AS("MPIX_Comm_iagree", "MPIX_Comm_iagree", 1),
	SITE_CALL_AS("MPIX_Comm_shrink", "MPIX_Comm_shrink", 1),
	SITE_CALL_AS("MPIX_Comm_ishrink", "MPIX_Comm_ishrink", 1),
	SITE_CALL_AS("MPIX_Comm_revoke", "MPIX_Comm_revoke", 1),

	/* Streams of MPICH 4.1 and newer */
	SITE_CALL_X(Stream_comm_create, 1), SITE_CALL_X(Stream_comm_create_multiplex, 1),
	SITE_CALL_X(Stream_send, 6), SITE_CALL_X(Stream_isend, 6), SITE_CALL_X(Stream_recv, 6),
	SITE_CALL_X(Stream_irecv, 6), SITE_CALL_X(Stream_send_c, 6), SITE_CALL_X(Stream_isend_c, 6),
	SITE_CALL_X(Stream_recv_c, 6), SITE_CALL_X(Stream_irecv_c, 6),
	/* clang-format on */
};

const struct site_table sites_mpi4 = { mpi4_rows, ARRAY_SIZE(mpi4_rows), 0, NULL };
