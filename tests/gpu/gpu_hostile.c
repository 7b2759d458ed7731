// SPDX-License-Identifier: BSD-3-Clause
/*
 * gpu_hostile DEVICES PART...: what an account of memory can get wrong, each followed by messages
 * whose memory is known. Parts: reuse, failing, threads, fork, remap. Rank 0 sends, rank 1 receives
 * into host memory.
 */
#include <sys/wait.h>

#include "ledger.h"

#define BYTES (1 << 20)
#define THREADS 8

static struct buffer host;

/* Some messages from rank 0's buffer. */
static void messages(const struct buffer *buffer, const char *kind)
{
	static const int sizes[] = { 8, 65536, BYTES };
	static int value;

	for (int i = 0; i < 3; i++) {
		value++;
		if (rank == 0)
			send_counted(buffer, sizes[i], 1, place_of(0, kind_of(kind)),
				     place_of(1, host.kind), value);
		else
			receive_checked(&host, sizes[i], 0, value);
	}
}

/* The same addresses again and again, as memory of different kinds; freed twice in between. */
static void reuse(void)
{
	static const char *const kinds[] = { "cudaMalloc", "cudaMallocManaged", "cudaMalloc",
					     "cudaMallocPitch", "cudaMallocHost" };

	for (int i = 0; i < 11; i++) {
		const char *kind = kinds[i % 5];
		struct buffer buffer = { 0 };

		if (rank == 0)
			buffer_make(&buffer, kind_of(kind), BYTES, rank_device[rank]);
		messages(&buffer, kind);
		if (rank == 0)
			buffer_end(&buffer);
	}
}

/* Memory that cannot be had, freed twice, or was never made: what is refused changes nothing. */
static void failing(void)
{
	struct buffer buffer = { 0 };
	void *nothing = NULL;

	if (rank == 0) {
		for (int i = 0; i < 3; i++)
			EXPECT(cudaMalloc(&nothing, (size_t)1 << 46) != cudaSuccess);
		buffer_make(&buffer, kind_of("cudaMalloc"), BYTES, rank_device[rank]);
		CUDA(cudaFree(buffer.at));
		cudaFree(buffer.at);
		cudaFree((void *)0x7001);
		cudaGetLastError();
		buffer_make(&buffer, kind_of("cudaMalloc"), BYTES, rank_device[rank]);
	}
	messages(&buffer, "cudaMalloc");
	if (rank == 0)
		buffer_end(&buffer);
}

struct worker {
	pthread_t thread;
	int number, devices;
	struct buffer buffer;
};

/* Each thread on a device of its own choice: makes and frees, and leaves one behind. */
static void *work(void *argument)
{
	struct worker *worker = argument;
	int device = (rank_device[rank] + worker->number) % worker->devices;

	CUDA(cudaSetDevice(device));
	for (int i = 0; i < 7; i++) {
		buffer_make(&worker->buffer, kind_of(i % 2 ? "cudaMallocHost" : "cudaMalloc"),
			    BYTES, device);
		if (i < 6)
			buffer_end(&worker->buffer);
	}
	return NULL;
}

/*
 * Memory made by other threads. No UCX up to 1.18 sends from two GPUs in one process, so that the
 * other devices' memory is only made and freed.
 */
static void threads(void)
{
	struct worker workers[THREADS] = { 0 };
	int devices;

	CUDA(cudaGetDeviceCount(&devices));
	for (int i = 0; rank == 0 && i < THREADS; i++) {
		workers[i] = (struct worker){ .number = i, .devices = devices };
		EXPECT(!pthread_create(&workers[i].thread, NULL, work, &workers[i]));
	}
	for (int i = 0; rank == 0 && i < THREADS; i++)
		EXPECT(!pthread_join(workers[i].thread, NULL));
	MPI_Bcast(&devices, 1, MPI_INT, 0, MPI_COMM_WORLD);
	for (int i = 0; i < THREADS; i += devices)
		messages(&workers[i].buffer, "cudaMalloc");
	for (int i = 0; rank == 0 && i < THREADS; i++)
		buffer_end(&workers[i].buffer);
}

/* A child has its parent's memory, but not what is of the GPU. */
static void forked(void)
{
	struct buffer before = { 0 }, after = { 0 };

	if (rank == 0) {
		pid_t child;
		int status;

		buffer_make(&before, kind_of("cudaMalloc"), BYTES, rank_device[rank]);
		child = fork();
		EXPECT(child >= 0);
		if (!child)
			_exit(7);
		EXPECT(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
		buffer_make(&after, kind_of("cudaMalloc"), BYTES, rank_device[rank]);
	}
	messages(&before, "cudaMalloc");
	messages(&after, "cudaMalloc");
	if (rank == 0) {
		buffer_end(&before);
		buffer_end(&after);
	}
}

/* Addresses over several handles, given back and mapped anew. */
static void remap(void)
{
	for (int i = 0; i < 5; i++) {
		const char *kind = i % 2 ? "vmm" : "vmm_pieces";
		struct buffer buffer = { 0 };

		if (rank == 0)
			buffer_make(&buffer, kind_of(kind), BYTES, rank_device[rank]);
		messages(&buffer, kind);
		if (rank == 0)
			buffer_end(&buffer);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} parts[] = {
	{ "reuse", reuse }, { "failing", failing }, { "threads", threads },
	{ "fork", forked }, { "remap", remap },
};

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	gpu_start("gpu_hostile", &argc, &argv, argv[1]);
	EXPECT(size == 2);
	buffer_make(&host, kind_of("malloc"), BYTES, 0);
	for (int i = 2; i < argc; i++)
		for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++)
			if (!strcmp(argv[i], parts[k].name))
				parts[k].run();
	return gpu_end();
}
