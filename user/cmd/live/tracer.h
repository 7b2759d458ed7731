/* SPDX-License-Identifier: BSD-3-Clause */
/* The half of a live view that traces: hands the reader one interval after the other. */
#ifndef UCXBPF_CMD_LIVE_TRACER_H
#define UCXBPF_CMD_LIVE_TRACER_H

#include "cmd/live/reader.h"
#include "cmd/trace/chosen.h"

struct tracer {
	struct chosen *chosen;
	uint64_t interval; /* ns */
	double budget; /* a share; 0: none */
	bool once; /* one interval, then the end */
	bool sends; /* for --all-nodes (cmd/nodes/send.h): ends with its input, or the last rank */
	const char *note; /* for the user; NULL: none */
	/* Called with any other byte of the reader, each 10 ms, and at the end; NULL: nothing. */
	void (*said)(void *arg, int byte);
	void (*step)(void *arg);
	void (*end)(void *arg);
	void *arg;

	struct live_reader reader;
	struct capture_interval before; /* the last one that the reader got */
};

/*
 * Starts the reader, traces until the duration is over, a signal comes, the reader quits or, unless
 * all processes are chosen, the last one has ended. around(true) is called before, around(false)
 * after it; NULL: nothing is. Returns the exit status; errors are printed.
 */
int tracer_run(struct tracer *tracer, const struct reader_options *options,
	       void (*around)(void *arg, bool before));

#endif
