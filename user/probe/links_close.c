// SPDX-License-Identifier: BSD-3-Clause
#include <pthread.h>
#include <unistd.h>

#include "probe/links_kernel.h"

#define MAX_CLOSERS 32

struct closer {
	pthread_t thread;
	const int *fds;
	size_t first, count;
	bool started;
};

/* Every MAX_CLOSERS-th descriptor. */
static void *close_some(void *arg)
{
	struct closer *closer = arg;

	for (size_t i = closer->first; i < closer->count; i += MAX_CLOSERS)
		close(closer->fds[i]);
	return NULL;
}

void link_close_all(const int *fds, size_t count)
{
	struct closer closers[MAX_CLOSERS];

	for (size_t i = 0; i < MAX_CLOSERS; i++) {
		closers[i] = (struct closer){ .fds = fds, .first = i, .count = count };
		if (i + 1 < MAX_CLOSERS && i + 1 < count)
			closers[i].started =
				!pthread_create(&closers[i].thread, NULL, close_some, &closers[i]);
		if (!closers[i].started)
			close_some(&closers[i]);
	}
	for (size_t i = 0; i < MAX_CLOSERS; i++)
		if (closers[i].started)
			pthread_join(closers[i].thread, NULL);
}
