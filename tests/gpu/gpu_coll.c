// SPDX-License-Identifier: BSD-3-Clause
/*
 * gpu_coll DEVICES bcast|allreduce: a collective of GPU buffers, as an MPI that knows nothing of
 * GPUs can carry it out: no buffer is touched but by the program's own operation. A broadcast moves
 * the buffers alone; a reduction in place, in a ring, receives into the host's memory.
 */
#include "ledger.h"

#define COUNT (1 << 17)
#define BYTES (COUNT * sizeof(float))
#define TIMES 4

/* Of buffers wherever they are. */
static void add(void *from, void *into, int *count, MPI_Datatype *type)
{
	static float a[COUNT], b[COUNT];
	size_t bytes = *count * sizeof(float);

	(void)type;
	CUDA(cudaMemcpy(a, from, bytes, cudaMemcpyDefault));
	CUDA(cudaMemcpy(b, into, bytes, cudaMemcpyDefault));
	for (int i = 0; i < *count; i++)
		b[i] += a[i];
	CUDA(cudaMemcpy(into, b, bytes, cudaMemcpyDefault));
	CUDA(cudaDeviceSynchronize());
}

static void set(const struct buffer *buffer, float value)
{
	static float values[COUNT];

	for (int i = 0; i < COUNT; i++)
		values[i] = value;
	CUDA(cudaMemcpy(buffer->at, values, BYTES, cudaMemcpyDefault));
	CUDA(cudaDeviceSynchronize());
}

static void is(const struct buffer *buffer, float value)
{
	static float values[COUNT];

	CUDA(cudaMemcpy(values, buffer->at, BYTES, cudaMemcpyDefault));
	for (int i = 0; i < COUNT; i++)
		EXPECT(values[i] == value);
}

int main(int argc, char **argv)
{
	struct buffer buffer;
	MPI_Op sum;
	bool reduce;

	if (argc < 3)
		return 2;
	gpu_start("gpu_coll", &argc, &argv, argv[1]);
	reduce = !strcmp(argv[2], "allreduce");
	MPI_Op_create(add, 1, &sum);
	buffer_make(&buffer, kind_of("cudaMalloc"), BYTES, rank_device[rank]);
	for (int i = 0; i < TIMES; i++) {
		set(&buffer, rank + 1);
		if (reduce)
			MPI_Allreduce(MPI_IN_PLACE, buffer.at, COUNT, MPI_FLOAT, sum,
				      MPI_COMM_WORLD);
		else
			MPI_Bcast(buffer.at, COUNT, MPI_FLOAT, 0, MPI_COMM_WORLD);
		is(&buffer, reduce ? size * (size + 1) / 2 : 1);
	}
	buffer_end(&buffer);
	MPI_Op_free(&sum);
	return gpu_end();
}
