// SPDX-License-Identifier: BSD-3-Clause
/*
 * A second opinion on MPI call counts, with no ucxbpf in it: preloaded, it stands in front of both
 * MPIs' functions, counts, and jumps on to the PMPI name. No prototypes, so one list serves all; a
 * function that the loaded MPI lacks is never called. Written to $WITNESS/RANK.json at exit.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* clang-format off */
#define FUNCTIONS(X) \
	X(Send) X(Bsend) X(Ssend) X(Rsend) X(Recv) X(Isend) X(Ibsend) X(Issend) X(Irsend) X(Irecv) \
	X(Send_init) X(Bsend_init) X(Ssend_init) X(Rsend_init) X(Recv_init) X(Start) X(Startall) \
	X(Sendrecv) X(Sendrecv_replace) X(Probe) X(Iprobe) X(Mprobe) X(Improbe) X(Mrecv) X(Imrecv) \
	X(Wait) X(Waitall) X(Waitany) X(Waitsome) X(Test) X(Testall) X(Testany) X(Testsome) \
	X(Request_free) X(Cancel) X(Buffer_detach) X(Abort) X(Barrier) X(Bcast) X(Gather) \
	X(Gatherv) X(Scatter) X(Scatterv) X(Allgather) X(Allgatherv) X(Alltoall) X(Alltoallv) \
	X(Alltoallw) X(Reduce) X(Allreduce) X(Reduce_scatter) X(Reduce_scatter_block) X(Scan) \
	X(Exscan) X(Ibarrier) X(Ibcast) X(Igather) X(Igatherv) X(Iscatter) X(Iscatterv) \
	X(Iallgather) X(Iallgatherv) X(Ialltoall) X(Ialltoallv) X(Ialltoallw) X(Ireduce) \
	X(Iallreduce) X(Ireduce_scatter) X(Ireduce_scatter_block) X(Iscan) X(Iexscan) \
	X(Neighbor_allgather) X(Neighbor_allgatherv) X(Neighbor_alltoall) X(Neighbor_alltoallv) \
	X(Neighbor_alltoallw) X(Ineighbor_allgather) X(Ineighbor_alltoall) X(Put) X(Get) X(Rput) \
	X(Rget) X(Accumulate) X(Raccumulate) X(Get_accumulate) X(Rget_accumulate) X(Fetch_and_op) \
	X(Compare_and_swap) X(Win_create) X(Win_allocate) X(Win_allocate_shared) \
	X(Win_create_dynamic) X(Win_free) X(Win_fence) X(Win_post) X(Win_start) X(Win_complete) \
	X(Win_wait) X(Win_test) X(Win_lock) X(Win_unlock) X(Win_lock_all) X(Win_unlock_all) \
	X(Win_flush) X(Win_flush_all) X(Win_flush_local) X(Win_flush_local_all) X(Comm_dup) \
	X(Comm_idup) X(Comm_dup_with_info) X(Comm_create) X(Comm_create_group) X(Comm_split) \
	X(Comm_split_type) X(Comm_free) X(Intercomm_create) X(Intercomm_merge) X(Cart_create) \
	X(Cart_sub) X(Graph_create) X(Dist_graph_create) X(Dist_graph_create_adjacent) X(Init) \
	X(Init_thread) X(Finalize)
/* clang-format on */

enum {
#define X(name) AT_##name,
	FUNCTIONS(X)
#undef X
		FUNCTION_COUNT
};

static const char *const names[] = {
#define X(name) "MPI_" #name,
	FUNCTIONS(X)
#undef X
};

/* Hidden: the assembly below reaches it without a detour through the dynamic linker. */
__attribute__((visibility("hidden"))) uint64_t witness_calls[FUNCTION_COUNT];

/* One statement, so that the assembler's own count of the functions follows the enum's. */
#define JUMP(name)                                                                                 \
	".globl MPI_" #name "\n"                                                                   \
	".type MPI_" #name ", @function\n"                                                         \
	"MPI_" #name ":\n"                                                                         \
	"	lock incq witness_calls + 8 * .Lindex(%rip)\n"                                           \
	"	jmp PMPI_" #name "@PLT\n"                                                          \
	".size MPI_" #name ", . - MPI_" #name "\n"                                                 \
	".set .Lindex, .Lindex + 1\n"
__asm__(".text\n"
	".set .Lindex, 0\n" FUNCTIONS(JUMP));

static const char *own_rank(void)
{
	static const char *const variables[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK" };
	unsigned int i;

	for (i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (getenv(variables[i]))
			return getenv(variables[i]);
	return NULL;
}

__attribute__((destructor)) static void write_counts(void)
{
	const char *directory = getenv("WITNESS"), *rank = own_rank();
	char path[4096];
	FILE *file;
	int i, written = 0;

	if (!directory || !rank || !(witness_calls[AT_Init] + witness_calls[AT_Init_thread]))
		return;
	snprintf(path, sizeof(path), "%s/%s.json", directory, rank);
	file = fopen(path, "w");
	if (!file)
		return;
	fputc('{', file);
	for (i = 0; i < FUNCTION_COUNT; i++)
		if (witness_calls[i])
			fprintf(file, "%s\"%s\":%llu", written++ ? "," : "", names[i],
				(unsigned long long)witness_calls[i]);
	fputs("}\n", file);
	fclose(file);
}
