/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ctrl-C in the middle of an export: what was written so far goes away, then the signal does what
 * it always does. A thread waits for it, so that it works wherever the export is.
 */
#ifndef UCXBPF_CMD_OUTPUT_ABANDON_H
#define UCXBPF_CMD_OUTPUT_ABANDON_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

struct abandon {
	char *path;
	sigset_t signals, before;
	pthread_t thread;
	bool running;
};

/* path: file or directory; NULL: nothing to remove. */
void abandon_start(struct abandon *abandon, const char *path);

/* The output is whole: a signal does what it did before. */
void abandon_end(struct abandon *abandon);

#endif
