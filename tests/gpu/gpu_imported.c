// SPDX-License-Identifier: BSD-3-Clause
/*
 * gpu_imported DEVICES: rank 0 opens memory of rank 1's GPU and sends from it, then receives into
 * it; the device is the one that the memory is on, not the one of the rank that has opened it.
 */
#include "ledger.h"

#define LARGEST (1 << 20)

static const struct {
	int bytes, count;
} sizes[] = { { 8, 7 }, { 4096, 5 }, { 65536, 3 }, { LARGEST, 2 } };

/* Rank 1's memory, as it is mapped in this rank; NULL: not here. */
static struct buffer shared;

static void share(struct buffer *own)
{
	cudaIpcMemHandle_t handle;

	if (rank == 1) {
		buffer_make(own, kind_of("cudaMalloc"), LARGEST, rank_device[rank]);
		CUDA(cudaIpcGetMemHandle(&handle, own->at));
	}
	MPI_Bcast(&handle, sizeof(handle), MPI_BYTE, 1, MPI_COMM_WORLD);
	shared = *own;
	if (rank == 0) {
		shared.kind = kind_of("cudaMalloc");
		CUDA(cudaIpcOpenMemHandle((void **)&shared.at, handle,
					  cudaIpcMemLazyEnablePeerAccess));
	}
}

static void exchange(const struct buffer *host, int sender)
{
	struct place imported = place_of(1, kind_of("cudaMalloc")), plain = place_of(0, host->kind);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (int k = 0; k < sizes[i].count; k++) {
			const struct buffer *end = rank == 0 ? &shared : host;
			int value = 10 * i + k;

			if (rank == sender)
				send_counted(end, sizes[i].bytes, !sender,
					     sender ? plain : imported, sender ? imported : plain,
					     value);
			else
				receive_checked(end, sizes[i].bytes, sender, value);
		}
}

int main(int argc, char **argv)
{
	struct buffer own = { 0 }, host;

	if (argc != 2)
		return 2;
	gpu_start("gpu_imported", &argc, &argv, argv[1]);
	EXPECT(size == 2);
	buffer_make(&host, kind_of("malloc"), LARGEST, 0);
	share(&own);
	ledger_hold();
	exchange(&host, 0);
	exchange(&host, 1);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		CUDA(cudaIpcCloseMemHandle(shared.at));
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		buffer_end(&own);
	return gpu_end();
}
