// SPDX-License-Identifier: BSD-3-Clause
/*
 * Loops that poll: many times for a message that cannot be there yet, then until it is, by each
 * function that polls, on both ranks in turn. Arguments: polls in vain for each message, threads
 * (each does it all, with tags of its own), and whether to wait for $GO, a file, before the loops.
 */
#include <pthread.h>
#include <unistd.h>

#include "mpi_common.h"

#define ROUNDS 3
#define BYTES 997
#define GO 1000 /* tags from here: the message may be sent */
#define NOW 2000 /* tags from here: it has been received */

static int in_vain, threads = 1;
static MPI_Comm other; /* nothing is ever sent in it */

struct wanted {
	MPI_Request request;
	MPI_Message message;
	int peer, tag;
	bool by_probe; /* the receive is not posted yet */
};

/* Each polls once, from a place of its own; true: the message was there. */
static bool by_test(struct wanted *wanted)
{
	int done;

	MPI_Test(&wanted->request, &done, MPI_STATUS_IGNORE);
	return done;
}

static bool by_testany(struct wanted *wanted)
{
	int done, index;

	MPI_Testany(1, &wanted->request, &index, &done, MPI_STATUS_IGNORE);
	return done;
}

static bool by_testsome(struct wanted *wanted)
{
	int done, index;

	MPI_Testsome(1, &wanted->request, &done, &index, MPI_STATUSES_IGNORE);
	return done;
}

static bool by_testall(struct wanted *wanted)
{
	int done;

	MPI_Testall(1, &wanted->request, &done, MPI_STATUSES_IGNORE);
	return done;
}

static bool by_status(struct wanted *wanted)
{
	int done;

	MPI_Request_get_status(wanted->request, &done, MPI_STATUS_IGNORE);
	return done;
}

static bool by_iprobe(struct wanted *wanted)
{
	int found;

	MPI_Iprobe(wanted->peer, wanted->tag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
	return found;
}

static bool by_improbe(struct wanted *wanted)
{
	int found;

	MPI_Improbe(wanted->peer, wanted->tag, MPI_COMM_WORLD, &found, &wanted->message,
		    MPI_STATUS_IGNORE);
	return found;
}

static const struct way {
	const char *name;
	bool (*poll)(struct wanted *wanted);
	bool probes;
} ways[] = {
	{ "MPI_Test", by_test, false },
	{ "MPI_Testany", by_testany, false },
	{ "MPI_Testsome", by_testsome, false },
	{ "MPI_Testall", by_testall, false },
	{ "MPI_Request_get_status", by_status, false },
	{ "MPI_Iprobe", by_iprobe, true },
	{ "MPI_Improbe", by_improbe, true },
};

#define WAYS ((int)(sizeof(ways) / sizeof(ways[0])))

static void receive(const struct way *way, struct wanted *wanted, char *buffer)
{
	uint64_t polls = 0;
	int found;

	if (!way->probes)
		T(MPI_Irecv)
	(buffer, BYTES, MPI_BYTE, wanted->peer, wanted->tag, MPI_COMM_WORLD, &wanted->request);
	for (; polls < (uint64_t)in_vain; polls++)
		EXPECT(!way->poll(wanted));
	/* in another communicator: a poll of another sort, from another place */
	T(MPI_Iprobe)(wanted->peer, wanted->tag, other, &found, MPI_STATUS_IGNORE);
	EXPECT(!found);
	send_bytes(NULL, 0, wanted->peer, GO + wanted->tag);
	do
		polls++;
	while (!way->poll(wanted));
	truth_calls(way->name, polls);
	if (way->poll == by_improbe)
		T(MPI_Mrecv)
	(buffer, BYTES, MPI_BYTE, &wanted->message, MPI_STATUS_IGNORE);
	else if (way->poll == by_iprobe)
		T(MPI_Recv)(buffer, BYTES, MPI_BYTE, wanted->peer, wanted->tag, MPI_COMM_WORLD,
			    MPI_STATUS_IGNORE);
	else if (way->poll == by_status) T(MPI_Wait)(&wanted->request, MPI_STATUS_IGNORE);
	verify(buffer, BYTES, (unsigned int)wanted->tag);
}

static void *all(void *arg)
{
	const int thread = (int)(intptr_t)arg;
	char buffer[BYTES];

	for (int i = 0; i < ROUNDS * WAYS * 2; i++) {
		struct wanted wanted = { .peer = !rank, .tag = thread * 100 + i };

		if ((i & 1) == rank) {
			receive(&ways[i / 2 % WAYS], &wanted, buffer);
			continue;
		}
		recv_bytes(buffer, 0, !rank, GO + wanted.tag);
		send_bytes(buffer, BYTES, !rank, wanted.tag);
	}
	return NULL;
}

static void await_go(void)
{
	while (getenv("GO") && access(getenv("GO"), F_OK))
		usleep(1000);
}

int main(int argc, char **argv)
{
	pthread_t others[8];
	int given;

	in_vain = argc > 1 ? atoi(argv[1]) : 1000;
	threads = argc > 2 ? atoi(argv[2]) : 1;
	T(MPI_Init_thread)
	(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &given);
	job_ranks("mpi_polls");
	EXPECT(threads == 1 || given == MPI_THREAD_MULTIPLE);
	EXPECT(threads >= 1 && threads <= 8);
	T(MPI_Comm_dup)(MPI_COMM_WORLD, &other);
	await_go();
	for (int i = 1; i < threads; i++)
		pthread_create(&others[i], NULL, all, (void *)(intptr_t)i);
	all(NULL);
	for (int i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	T(MPI_Comm_free)(&other);
	return job_end();
}
