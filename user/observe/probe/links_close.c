// SPDX-License-Identifier: BSD-3-Clause
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "observe/probe/links_kernel.h"

#define MAX_CLOSERS 32

struct closer {
	pthread_t thread;
	const struct link_closing *all;
	size_t first;
	bool started;
	uint64_t done; /* ns; 0: had nothing to close */
};

struct link_closing {
	struct closer closers[MAX_CLOSERS];
	uint64_t began; /* ns */
	size_t count;
	int fds[];
};

/* Every MAX_CLOSERS-th descriptor. */
static void *close_some(void *arg)
{
	struct closer *closer = arg;

	for (size_t i = closer->first; i < closer->all->count; i += MAX_CLOSERS)
		close(closer->all->fds[i]);
	closer->done = clock_ns(CLOCK_MONOTONIC);
	return NULL;
}

struct link_closing *link_close_begin(const int *fds, size_t count)
{
	struct link_closing *closing = calloc(1, sizeof(*closing) + count * sizeof(*fds));

	if (!closing)
		abort();
	if (count)
		memcpy(closing->fds, fds, count * sizeof(*fds));
	closing->began = clock_ns(CLOCK_MONOTONIC);
	closing->count = count;
	for (size_t i = 0; i < MAX_CLOSERS && i < count; i++) {
		struct closer *closer = &closing->closers[i];

		closer->all = closing;
		closer->first = i;
		closer->started = !pthread_create(&closer->thread, NULL, close_some, closer);
		if (!closer->started)
			close_some(closer);
	}
	return closing;
}

uint64_t link_close_wait(struct link_closing *closing)
{
	uint64_t done = closing ? closing->began : 0, took;

	for (size_t i = 0; closing && i < MAX_CLOSERS; i++) {
		struct closer *closer = &closing->closers[i];

		if (closer->started)
			pthread_join(closer->thread, NULL);
		if (closer->done > done)
			done = closer->done;
	}
	took = closing ? done - closing->began : 0;
	free(closing);
	return took;
}
