/* SPDX-License-Identifier: BSD-3-Clause */
/* What every MPI workload program shares: start, end, checked data, counted sends. */
#ifndef UCXBPF_MPI_COMMON_H
#define UCXBPF_MPI_COMMON_H

#include <mpi.h>

#include "truth.h"

/* MPICH's MPI_STATUSES_IGNORE is the address 1, which gcc takes for a too small array. */
#pragma GCC diagnostic ignored "-Wstringop-overflow"

static int rank, size;

#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: rank %d: not so: %s\n", __FILE__, __LINE__, rank,  \
				#condition);                                                       \
			MPI_Abort(MPI_COMM_WORLD, 3);                                              \
		}                                                                                  \
	} while (0)

static inline void job_ranks(const char *program)
{
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	truth_begin(program, rank, size);
	EXPECT(size >= 2);
}

static inline void job_start(const char *program, int *argc, char ***argv)
{
	T(MPI_Init)(argc, argv);
	job_ranks(program);
}

/*
 * To be called right before MPI_Finalize. That of MPICH 4.0.2 flushes its endpoints and then blocks
 * without progress. Over tcp a flush needs an answer wherever a message was sent, so a rank may
 * wait for ever for one that is past its own flushes: 4 ranks hung in up to 13 of 15 jobs. Where
 * each has sent to each other one, and none makes progress until all have, nobody is past them
 * before he has answered all.
 */
static inline void all_owe_answers(MPI_Comm comm)
{
#ifdef MPICH_VERSION
	const char *tls = getenv("UCX_TLS");
	char out[64] = "", in[64];

	if (tls && strstr(tls, "tcp")) {
		EXPECT(size <= (int)sizeof(out));
		T(MPI_Alltoall)(out, 1, MPI_BYTE, in, 1, MPI_BYTE, comm);
		usleep(50000);
	}
#else
	(void)comm;
#endif
}

static inline int job_end(void)
{
	T(MPI_Barrier)(MPI_COMM_WORLD);
	all_owe_answers(MPI_COMM_WORLD);
	truth_call("MPI_Finalize");
	truth_end();
	MPI_Finalize();
	return 0;
}

static inline void fill(void *buffer, size_t bytes, unsigned int seed)
{
	unsigned char *byte = buffer;
	size_t i;

	for (i = 0; i < bytes; i++)
		byte[i] = (unsigned char)(seed + i * 31 + (i >> 8));
}

static inline void verify(const void *buffer, size_t bytes, unsigned int seed)
{
	const unsigned char *byte = buffer;
	size_t i;

	for (i = 0; i < bytes; i++)
		EXPECT(byte[i] == (unsigned char)(seed + i * 31 + (i >> 8)));
	truth_data(buffer, bytes);
}

typedef int send_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int isend_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

/* One blocking send in MPI_COMM_WORLD, of bytes that verify(tag) will recognise. */
static inline void send_with(const char *name, send_fn *function, void *buffer, int bytes, int dst,
			     int tag)
{
	fill(buffer, bytes, tag);
	truth_call(name);
	truth_message(name, dst, bytes);
	function(buffer, bytes, MPI_BYTE, dst, tag, MPI_COMM_WORLD);
}

static inline void send_bytes(void *buffer, int bytes, int dst, int tag)
{
	send_with("MPI_Send", MPI_Send, buffer, bytes, dst, tag);
}

static inline void recv_bytes(void *buffer, int bytes, int src, int tag)
{
	MPI_Status status;
	int count;

	T(MPI_Recv)(buffer, bytes, MPI_BYTE, src, tag, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_BYTE, &count);
	EXPECT(count == bytes && status.MPI_SOURCE == src && status.MPI_TAG == tag);
	verify(buffer, bytes, tag);
}

#endif
