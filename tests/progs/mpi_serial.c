// SPDX-License-Identifier: BSD-3-Clause
/*
 * mpi_serial ROUNDS|STOPFILE [PAUSE_US [BYTES]]: messages that look alike to a tracer and carry
 * serial numbers that only this program knows. Tags and lengths repeat, so a match that is one
 * message off looks right. $TRUTH/RANK.serials is the ledger: which call sent which serial, which
 * call received it, and when, by CLOCK_MONOTONIC; tests/live/check_serials.py compares. With BYTES
 * a round is one message of that length from each rank to the next one.
 */
#include <time.h>

#include "mpi_common.h"

#define BURST 24
#define MAX_BYTES 8000
#define TAG 5

struct entry {
	uint64_t serial;
	uint64_t from, to; /* around the call that sent or posted, ns */
	uint64_t done; /* a receive is over by then */
	int32_t peer, receives;
};

static struct {
	struct entry *entries;
	size_t len, room;
} ledger;

static uint64_t serials;
static char out[BURST][MAX_BYTES], in[BURST][MAX_BYTES];
static MPI_Request requests[2 * BURST];

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static struct entry *begin(int peer, int receives)
{
	if (ledger.len == ledger.room) {
		ledger.room = ledger.room ? 2 * ledger.room : 1 << 16;
		ledger.entries = realloc(ledger.entries, ledger.room * sizeof(*ledger.entries));
		EXPECT(ledger.entries);
	}
	ledger.entries[ledger.len] = (struct entry){ .peer = peer, .receives = receives };
	ledger.entries[ledger.len].from = now();
	return &ledger.entries[ledger.len++];
}

static uint64_t serial_in(const char *buffer)
{
	uint64_t serial;

	memcpy(&serial, buffer, sizeof(serial));
	return serial;
}

static void sign(char *buffer, struct entry *entry)
{
	entry->serial = (uint64_t)rank << 48 | ++serials;
	memcpy(buffer, &entry->serial, sizeof(entry->serial));
}

static void serial_send(int bytes, int peer)
{
	struct entry *entry = begin(peer, 0);

	sign(out[0], entry);
	MPI_Send(out[0], bytes, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
	entry->to = entry->done = now();
}

static void serial_recv(int peer)
{
	struct entry *entry = begin(peer, 1);
	MPI_Status status;

	MPI_Recv(in[0], MAX_BYTES, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, &status);
	entry->to = entry->done = now();
	entry->serial = serial_in(in[0]);
	entry->peer = status.MPI_SOURCE;
}

/* One at a time. */
static void shift(int bytes, int left, int right)
{
	serial_send(bytes, right);
	serial_recv(left);
}

/* Receives are posted before their messages, or after: what is in order on both sides. */
static void burst(int bytes, int left, int right, int early)
{
	size_t first = ledger.len;
	int i;

	for (i = 0; early && i < BURST; i++) {
		struct entry *entry = begin(left, 1);

		MPI_Irecv(in[i], MAX_BYTES, MPI_BYTE, left, TAG, MPI_COMM_WORLD, &requests[i]);
		entry->to = now();
	}
	for (i = 0; i < BURST; i++) {
		struct entry *entry = begin(right, 0);

		sign(out[i], entry);
		MPI_Isend(out[i], bytes, MPI_BYTE, right, TAG, MPI_COMM_WORLD,
			  &requests[BURST + i]);
		entry->to = entry->done = now();
	}
	for (i = 0; i < BURST; i++) {
		if (!early)
			serial_recv(left);
		else
			MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
		if (early) {
			ledger.entries[first + (size_t)i].done = now();
			ledger.entries[first + (size_t)i].serial = serial_in(in[i]);
		}
	}
	MPI_Waitall(BURST, requests + BURST, MPI_STATUSES_IGNORE);
}

/* From whoever comes first. */
static void gather(int bytes)
{
	int i;

	if (rank) {
		serial_send(bytes, 0);
		return;
	}
	for (i = 1; i < size; i++)
		serial_recv(MPI_ANY_SOURCE);
}

static void play(uint64_t round)
{
	static const int lengths[] = { 8, 64, 200, 200, 1000, 1000, 1000, 4000 };
	uint64_t dice = (round + 1) * 0x9e3779b97f4a7c15ull >> 24;
	int bytes = lengths[dice % (sizeof(lengths) / sizeof(*lengths))];
	int far = (int)((dice >> 8) % (uint64_t)(size - 1)) + 1;
	int left = (rank + size - far) % size, right = (rank + far) % size, i;

	switch (dice >> 16 & 3) {
	case 0:
		for (i = 0; i < 8; i++)
			shift(bytes, left, right);
		return;
	case 1:
		return burst(bytes, left, right, 1);
	case 2:
		return burst(bytes, left, right, 0);
	case 3:
		return gather(bytes);
	}
}

static void write_ledger(void)
{
	FILE *file = truth_open("serials");

	if (!file)
		return;
	EXPECT(fwrite(ledger.entries, sizeof(*ledger.entries), ledger.len, file) == ledger.len);
	fclose(file);
}

static void say_running(void)
{
	FILE *file = truth_open("running");

	if (!file)
		return;
	fputs("running\n", file);
	fclose(file);
}

/* Rank 0 decides. */
static bool goes_on(uint64_t round, uint64_t limit, const char *stop_file)
{
	int on = rank == 0 && (limit ? round < limit : access(stop_file, F_OK) != 0);

	MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return on;
}

int main(int argc, char **argv)
{
	uint64_t limit = argc > 1 ? strtoull(argv[1], NULL, 10) : 100, round;
	long pause_us = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	int bytes = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0;
	struct timespec pause = { .tv_sec = pause_us / 1000000,
				  .tv_nsec = pause_us % 1000000 * 1000 };

	job_start("mpi_serial", &argc, &argv);
	EXPECT(bytes <= MAX_BYTES);
	for (round = 0; goes_on(round, limit, argc > 1 ? argv[1] : ""); round++) {
		if (bytes)
			shift(bytes, (rank + size - 1) % size, (rank + 1) % size);
		else
			play(round);
		if (round == 9)
			say_running();
		if (pause_us)
			nanosleep(&pause, NULL);
	}
	write_ledger();
	return job_end();
}
