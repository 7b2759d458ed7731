// SPDX-License-Identifier: BSD-3-Clause
/*
 * mpi_four [sessions]: what MPI-4.0 added. Partitioned sends, persistent collectives, large counts,
 * MPI_Isendrecv; and agreement and shrinking (ULFM). With "sessions" all of it without MPI_Init, in
 * a communicator made from a session. Open MPI 4.1 has none but persistent collectives, by MPIX
 * names; Open MPI 5 has no large counts, MPICH 4 no ULFM.
 */
#include "mpi_common.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
#define INIT(name) (truth_call("MPIX_" #name), MPIX_##name)
#define HAS_FOUR 0
#else
#define INIT(name) (truth_call("MPI_" #name), MPI_##name)
#define HAS_FOUR 1
#endif

#ifdef OPEN_MPI
#define HAS_LARGE 0
#define HAS_ULFM HAS_FOUR
#else
#define HAS_LARGE 1
#define HAS_ULFM 0 /* they fail an assertion: src/mpid/ch4/src/ch4_comm.c */
#endif

#define ROUNDS 11
#define COUNT 1009
#define MAX_BYTES 200003

static MPI_Comm comm;
static int peer;

/* No MPI_Allgather_init: that of MPICH 4.0.2 takes a rank's own part at the first start only. */
static void persistent_collectives(void)
{
	static int out[COUNT], sum[COUNT], at_root[COUNT], from_root[COUNT];
	MPI_Request requests[4];
	int round, i;

	INIT(Barrier_init)(comm, MPI_INFO_NULL, &requests[0]);
	INIT(Bcast_init)(from_root, COUNT, MPI_INT, 0, comm, MPI_INFO_NULL, &requests[1]);
	INIT(Allreduce_init)
	(out, sum, COUNT, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[2]);
	INIT(Reduce_init)
	(out, at_root, COUNT, MPI_INT, MPI_SUM, 0, comm, MPI_INFO_NULL, &requests[3]);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < COUNT; i++) {
			out[i] = rank + round * i;
			from_root[i] = rank ? -1 : round + i;
		}
		for (i = 0; i < 4; i++) {
			T(MPI_Start)(&requests[i]);
			T(MPI_Wait)(&requests[i], MPI_STATUS_IGNORE);
		}
		for (i = 0; i < COUNT; i++)
			EXPECT(sum[i] == 1 + 2 * round * i && from_root[i] == round + i &&
			       (rank || at_root[i] == sum[i]));
		truth_data(sum, sizeof(sum));
	}
	for (i = 0; i < 4; i++)
		T(MPI_Request_free)(&requests[i]);
}

#if HAS_FOUR

#define PARTITIONS 4

/* By one request to the other rank, bytes are those of a partition. */
static void partitioned(int bytes)
{
	static char out[PARTITIONS * MAX_BYTES], in[PARTITIONS * MAX_BYTES];
	static int list[] = { 3, 1 };
	MPI_Request requests[2];
	int round, i, flag;

	T(MPI_Precv_init)
	(in, PARTITIONS, bytes, MPI_BYTE, peer, 7, comm, MPI_INFO_NULL, &requests[0]);
	T(MPI_Psend_init)
	(out, PARTITIONS, bytes, MPI_BYTE, peer, 7, comm, MPI_INFO_NULL, &requests[1]);
	for (round = 0; round < ROUNDS; round++) {
		fill(out, (size_t)PARTITIONS * bytes, round);
		T(MPI_Startall)(2, requests);
		if (round % 2) {
			T(MPI_Pready_range)(0, PARTITIONS - 1, requests[1]);
		} else {
			T(MPI_Pready)(2, requests[1]);
			T(MPI_Pready_list)(2, list, requests[1]);
			T(MPI_Pready)(0, requests[1]);
		}
		for (i = 0; i < PARTITIONS; i++)
			for (flag = 0; !flag;)
				T(MPI_Parrived)(requests[0], i, &flag);
		T(MPI_Waitall)(2, requests, MPI_STATUSES_IGNORE);
		verify(in, (size_t)PARTITIONS * bytes, round);
	}
	for (i = 0; i < 2; i++)
		T(MPI_Request_free)(&requests[i]);
}

static void both_ways(void)
{
	static char out[MAX_BYTES], in[MAX_BYTES];
	MPI_Request request;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		fill(out, COUNT, i);
		truth_message("MPI_Isendrecv", peer, COUNT);
		T(MPI_Isendrecv)
		(out, COUNT, MPI_BYTE, peer, i, in, COUNT, MPI_BYTE, peer, i, comm, &request);
		T(MPI_Wait)(&request, MPI_STATUS_IGNORE);
		verify(in, COUNT, i);
		truth_message("MPI_Isendrecv_replace", peer, COUNT);
		T(MPI_Isendrecv_replace)(out, COUNT, MPI_BYTE, peer, i, peer, i, comm, &request);
		T(MPI_Wait)(&request, MPI_STATUS_IGNORE);
		verify(out, COUNT, i);
	}
}

#endif

#if HAS_ULFM

static void agree(void)
{
	MPI_Comm rest;
	int flag = 6 + rank;

	T(MPIX_Comm_agree)(comm, &flag);
	EXPECT(flag == 6);
	T(MPIX_Comm_shrink)(comm, &rest);
	T(MPIX_Comm_revoke)(rest);
	MPI_Comm_set_errhandler(rest, MPI_ERRORS_RETURN);
	T(MPI_Comm_free)(&rest);
}

#endif

#if HAS_LARGE

static void large_counts(MPI_Count bytes)
{
	static char out[MAX_BYTES], in[MAX_BYTES];
	MPI_Request requests[2];
	int i, sum[2] = { rank, 1 }, total[2];

	for (i = 0; i < ROUNDS; i++) {
		fill(out, bytes, i);
		truth_message("MPI_Isend_c", peer, bytes);
		T(MPI_Irecv_c)(in, bytes, MPI_BYTE, peer, i, comm, &requests[0]);
		T(MPI_Isend_c)(out, bytes, MPI_BYTE, peer, i, comm, &requests[1]);
		T(MPI_Waitall)(2, requests, MPI_STATUSES_IGNORE);
		verify(in, bytes, i);
		truth_message("MPI_Sendrecv_c", peer, bytes);
		T(MPI_Sendrecv_c)
		(out, bytes, MPI_BYTE, peer, i, in, bytes, MPI_BYTE, peer, i, comm,
		 MPI_STATUS_IGNORE);
		verify(in, bytes, i);
		if (!rank) {
			truth_message("MPI_Send_c", peer, bytes);
			T(MPI_Send_c)(out, bytes, MPI_BYTE, peer, i, comm);
			T(MPI_Recv_c)(in, bytes, MPI_BYTE, peer, i, comm, MPI_STATUS_IGNORE);
		} else {
			T(MPI_Recv_c)(in, bytes, MPI_BYTE, peer, i, comm, MPI_STATUS_IGNORE);
			truth_message("MPI_Ssend_c", peer, bytes);
			T(MPI_Ssend_c)(out, bytes, MPI_BYTE, peer, i, comm);
		}
		verify(in, bytes, i);
	}
	T(MPI_Allreduce_c)(sum, total, 2, MPI_INT, MPI_SUM, comm);
	T(MPI_Bcast_c)(out, bytes, MPI_BYTE, 0, comm);
	EXPECT(total[0] == 1 && total[1] == 2);
}

#endif

static void work(void)
{
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	truth_begin("mpi_four", rank, size);
	if (size != 2)
		exit(2);
	peer = !rank;
	persistent_collectives();
#if HAS_FOUR
	both_ways();
	partitioned(COUNT);
	partitioned(MAX_BYTES);
#endif
#if HAS_ULFM
	agree();
#endif
#if HAS_LARGE
	large_counts(COUNT);
	large_counts(MAX_BYTES);
#endif
	T(MPI_Barrier)(comm);
	all_owe_answers(comm);
}

#if HAS_FOUR

static void in_session(void)
{
	MPI_Session session;
	MPI_Group group;

	T(MPI_Session_init)(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	T(MPI_Comm_create_from_group)
	(group, "mpi_four", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	MPI_Group_free(&group);
	work();
	T(MPI_Comm_free)(&comm);
	truth_call("MPI_Session_finalize");
	truth_end();
	MPI_Session_finalize(&session);
}

#endif

/* Messages of these functions are the library's own, of persistent collectives and partitions. */
static const char own[] = ",\"own\":[\"MPI_Start\",\"MPI_Startall\"]";

int main(int argc, char **argv)
{
	snprintf(truth.tail, sizeof(truth.tail), "%s", own);
	if (argc > 1) {
#if HAS_FOUR
		in_session();
		return 0;
#else
		return 77;
#endif
	}
	T(MPI_Init)(&argc, &argv);
	comm = MPI_COMM_WORLD;
	work();
	truth_call("MPI_Finalize");
	truth_end();
	MPI_Finalize();
	return 0;
}
