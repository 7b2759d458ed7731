// SPDX-License-Identifier: BSD-3-Clause
/*
 * gpu_pairs DEVICES [nogpu] KIND...: every kind of memory, from and to the GPU and the host, at
 * every size, prime numbers of messages, both ranks as the sender. DEVICES: see choose_device() in
 * ledger.h. nogpu: nothing from and to the GPU, for a UCX that cannot.
 */
#include "ledger.h"

#define LARGEST (8 << 20)

static const struct {
	int bytes, count;
} sizes[] = { { 8, 7 }, { 4096, 5 }, { 65536, 5 }, { 1 << 20, 3 }, { LARGEST, 2 } };

/* As many messages of a size as are counted, or one small and one large to make all connections. */
static void send_sizes(const struct buffer *src, const struct buffer *dst, int sender, bool warm)
{
	static int value;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i += warm ? 3 : 1)
		for (int k = 0; k < (warm ? 1 : sizes[i].count); k++) {
			value++;
			if (rank == sender)
				send_counted(src, sizes[i].bytes, !sender,
					     place_of(sender, src->kind),
					     place_of(!sender, dst->kind), value);
			else
				receive_checked(dst, sizes[i].bytes, sender, value);
		}
}

struct buffers {
	struct buffer kind[16], gpu, host;
	int kinds;
	bool no_gpu;
};

static void all_ways(const struct buffers *own, bool warm)
{
	for (int sender = 0; sender < 2; sender++)
		for (int i = 0; i < own->kinds; i++) {
			send_sizes(&own->kind[i], &own->host, sender, warm);
			send_sizes(&own->host, &own->kind[i], sender, warm);
			if (own->no_gpu)
				continue;
			send_sizes(&own->kind[i], &own->gpu, sender, warm);
			send_sizes(&own->gpu, &own->kind[i], sender, warm);
		}
}

int main(int argc, char **argv)
{
	struct buffers own = { 0 };
	int device;

	if (argc < 3 || argc > 2 + 16)
		return 2;
	gpu_start("gpu_pairs", &argc, &argv, argv[1]);
	EXPECT(size == 2);
	device = rank_device[rank];
	buffer_make(&own.gpu, kind_of("cudaMalloc"), LARGEST, device);
	buffer_make(&own.host, kind_of("malloc"), LARGEST, device);
	own.no_gpu = !strcmp(argv[2], "nogpu");
	for (int i = 2 + own.no_gpu; i < argc; i++) {
		EXPECT(kind_of(argv[i]));
		buffer_make(&own.kind[own.kinds++], kind_of(argv[i]), LARGEST, device);
	}
	if (getenv("HOLD"))
		all_ways(&own, true);
	ledger_hold();
	all_ways(&own, false);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < own.kinds; i++)
		buffer_end(&own.kind[i]);
	buffer_end(&own.gpu);
	buffer_end(&own.host);
	return gpu_end();
}
