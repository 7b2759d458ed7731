/* SPDX-License-Identifier: BSD-3-Clause */
/* The half of a live view that traces: hands the reader an interval after the other. */
#ifndef UCXBPF_CMD_LIVE_TRACER_H
#define UCXBPF_CMD_LIVE_TRACER_H

#include "cmd/live/reader.h"
#include "cmd/trace/chosen.h"

struct tracer {
	struct chosen *chosen;
	uint64_t interval; /* ns */
	double budget; /* a share; 0: none */
	bool once; /* one interval, then the end */
	bool stays; /* also while nothing is traced */
	const char *note; /* for the user; NULL: none */
	/* what else is done: an answer of the reader that is none of its two, each 10 ms, at last
	 */
	void (*said)(void *arg, int byte);
	void (*step)(void *arg);
	void (*end)(void *arg);
	void *arg;

	struct reader reader;
	struct capture_interval before; /* the last one that the reader got */
};

/*
 * Starts the reader, traces until the duration is over, a signal comes, the reader quits or, unless
 * it stays, the last process has ended. The exit status; errors are printed. between(true) is
 * called before, between(false) after it; NULL: nothing is.
 */
int tracer_run(struct tracer *tracer, const struct reader_options *options,
	       void (*around)(void *arg, bool before));

#endif
