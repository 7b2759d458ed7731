/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a GPU test program really sent: $TRUTH/RANK.memory gets one JSON object a line, per
 * function, receiver, size and memory at both ends, written by the sender at the end. Host and
 * pinned memory have no device. Beside it RANK.pid (tests/progs/truth.h), and where the program
 * waits to be attached to: RANK.ready when it does; it goes on once there is a file "go".
 *
 * Only what the program counts is in there. What its ranks say to each other besides goes by other
 * MPI functions.
 */
#ifndef UCXBPF_GPU_LEDGER_H
#define UCXBPF_GPU_LEDGER_H

#include <ctype.h>

#include "../progs/mpi_common.h"
#include "kinds.h"

#define MAX_RANKS 16
#define MAX_ROWS 4096
#define BUS_ID 32

struct place {
	const char *kind, *memory; /* of struct kind */
	int device; /* -1: none */
	char bus_id[BUS_ID]; /* "0000:17:00.0" */
};

struct ledger_row {
	const char *function;
	int to;
	struct place src, dst;
	uint64_t size, count;
};

/* What the ranks' devices are, as each rank numbers them and by their PCI address. */
static int rank_device[MAX_RANKS];
static char rank_bus_id[MAX_RANKS][BUS_ID];

static struct ledger_row ledger[MAX_ROWS];
static int ledger_used;

/* The index-th of a list of numbers, the first again after the last. */
static inline int nth(const char *list, int index)
{
	int numbers[MAX_RANKS], count = 0;

	while (*list && count < MAX_RANKS) {
		char *end;

		numbers[count++] = strtol(list, &end, 10);
		if (end == list)
			break;
		list = *end ? end + 1 : end;
	}
	return numbers[index % count];
}

static inline int launched_rank(void)
{
	const char *name[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK" };

	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		if (getenv(name[i]))
			return atoi(getenv(name[i]));
	fprintf(stderr, "the launcher does not say which rank this is\n");
	exit(2);
}

/*
 * The device of this rank, made the current one: the rank-th of the list ("0,1"). With "setenv:0,1"
 * the program itself hides all others, and its only one is 0.
 */
static inline int choose_device(const char *list)
{
	static const char hide[] = "setenv:";
	char number[16];
	int device;

	if (strncmp(list, hide, sizeof(hide) - 1)) {
		device = nth(list, launched_rank());
	} else {
		snprintf(number, sizeof(number), "%d",
			 nth(list + sizeof(hide) - 1, launched_rank()));
		setenv("CUDA_VISIBLE_DEVICES", number, 1);
		device = 0;
	}
	CUDA(cudaSetDevice(device));
	CUDA(cudaFree(NULL)); /* makes the context, which UCX wants to find */
	return device;
}

static inline void gpu_start(const char *program, int *argc, char ***argv, const char *list)
{
	char bus_id[BUS_ID] = "";
	int device = choose_device(list);

	MPI_Init(argc, argv);
	job_ranks(program);
	EXPECT(size <= MAX_RANKS);
	CUDA(cudaDeviceGetPCIBusId(bus_id, sizeof(bus_id), device));
	for (char *c = bus_id; *c; c++)
		*c = tolower((unsigned char)*c);
	MPI_Allgather(&device, 1, MPI_INT, rank_device, 1, MPI_INT, MPI_COMM_WORLD);
	MPI_Allgather(bus_id, BUS_ID, MPI_CHAR, rank_bus_id, BUS_ID, MPI_CHAR, MPI_COMM_WORLD);
}

/* Memory of that kind in a rank, on the rank's own device. */
static inline struct place place_of(int of_rank, const struct kind *kind)
{
	struct place place = { .kind = kind->name, .memory = kind->memory, .device = -1 };

	if (!strcmp(kind->memory, "gpu")) {
		place.device = rank_device[of_rank];
		memcpy(place.bus_id, rank_bus_id[of_rank], BUS_ID);
	}
	return place;
}

static inline bool same_place(const struct place *a, const struct place *b)
{
	return a->device == b->device && !strcmp(a->kind, b->kind) && !strcmp(a->bus_id, b->bus_id);
}

/* This rank has sent bytes from src to dst, which is in rank to. */
static inline void ledger_add(const char *function, int to, struct place src, struct place dst,
			      uint64_t bytes)
{
	int i;

	for (i = 0; i < ledger_used; i++)
		if (ledger[i].to == to && ledger[i].size == bytes &&
		    !strcmp(ledger[i].function, function) && same_place(&ledger[i].src, &src) &&
		    same_place(&ledger[i].dst, &dst))
			break;
	EXPECT(i < MAX_ROWS);
	if (i == ledger_used)
		ledger[ledger_used++] = (struct ledger_row){ function, to, src, dst, bytes, 0 };
	ledger[i].count++;
}

static inline void write_place(FILE *file, const char *side, const struct place *place)
{
	fprintf(file, ",\"%s_kind\":\"%s\",\"%s_mem\":\"%s\"", side, place->kind, side,
		place->memory);
	if (place->device >= 0)
		fprintf(file, ",\"%s_device\":%d,\"%s_bus_id\":\"%s\"", side, place->device, side,
			place->bus_id);
}

static inline void ledger_write(void)
{
	FILE *named = truth_open("memory"), *file = named ? named : stdout;

	for (int i = 0; i < ledger_used; i++) {
		const struct ledger_row *row = &ledger[i];

		fprintf(file, "%s{\"function\":\"%s\",\"src\":%d,\"dst\":%d", named ? "" : "truth ",
			row->function, rank, row->to);
		write_place(file, "src", &row->src);
		write_place(file, "dst", &row->dst);
		fprintf(file, ",\"size\":%llu,\"count\":%llu,\"bytes\":%llu}\n",
			(unsigned long long)row->size, (unsigned long long)row->count,
			(unsigned long long)(row->size * row->count));
	}
	if (named)
		fclose(named);
}

static inline int gpu_end(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
	ledger_write();
	MPI_Finalize();
	return 0;
}

/* With $HOLD: waits to be attached to. What was sent before does not count. */
static inline void ledger_hold(void)
{
	const char *directory = getenv("TRUTH");
	char path[4096];

	if (!getenv("HOLD") || !directory)
		return;
	MPI_Barrier(MPI_COMM_WORLD);
	ledger_used = 0;
	fclose(truth_open("ready"));
	snprintf(path, sizeof(path), "%s/go", directory);
	while (access(path, F_OK))
		usleep(1000);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* One counted message of this size from this rank's buffer, filled with a value both ends know. */
static inline void send_counted(const struct buffer *buffer, size_t bytes, int to, struct place src,
				struct place dst, int value)
{
	buffer_fill(buffer, bytes, value);
	ledger_add("MPI_Send", to, src, dst, bytes);
	MPI_Send(buffer->at, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD);
}

static inline void receive_checked(const struct buffer *buffer, size_t bytes, int from, int value)
{
	MPI_Recv(buffer->at, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	EXPECT(buffer_is(buffer, bytes, value));
}

#endif
