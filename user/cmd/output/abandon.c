// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/output/abandon.h"

#include <stdlib.h>
#include <string.h>

#include "show/export/export.h"

/*
 * Those that end a process by default and that people send; none that was ignored before (nohup),
 * nor one that is blocked: somebody waits for that one and does better.
 */
static void choose(sigset_t *set)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action;
	sigset_t blocked;

	sigemptyset(set);
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		if (!sigaction(ending[i], NULL, &action) && action.sa_handler == SIG_DFL &&
		    !sigismember(&blocked, ending[i]))
			sigaddset(set, ending[i]);
}

static void *wait_for_one(void *arg)
{
	const struct abandon *abandon = arg;
	int signal;

	if (sigwait(&abandon->signals, &signal))
		return NULL;
	export_remove(abandon->path);
	raise(signal);
	pthread_sigmask(SIG_UNBLOCK, &abandon->signals, NULL);
	return NULL;
}

void abandon_start(struct abandon *abandon, const char *path)
{
	*abandon = (struct abandon){ .path = path ? strdup(path) : NULL };
	if (!abandon->path)
		return;
	choose(&abandon->signals);
	pthread_sigmask(SIG_BLOCK, &abandon->signals, &abandon->before);
	abandon->running = !pthread_create(&abandon->thread, NULL, wait_for_one, abandon);
	if (!abandon->running)
		pthread_sigmask(SIG_SETMASK, &abandon->before, NULL);
}

void abandon_end(struct abandon *abandon)
{
	if (abandon->running) {
		pthread_cancel(abandon->thread);
		pthread_join(abandon->thread, NULL);
		pthread_sigmask(SIG_SETMASK, &abandon->before, NULL);
	}
	free(abandon->path);
}
