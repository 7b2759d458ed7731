/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the threads of MPI processes are in, as a look at their stacks shows it: a call that began
 * before the trace has no record.
 */
#ifndef UCXBPF_CAPTURE_THREADS_H
#define UCXBPF_CAPTURE_THREADS_H

#include "observe/capture/addresses.h"
#include "observe/capture/track.h"

/* The part of a thread's stack that belongs to the MPI call it is in. */
struct call_stack {
	pid_t tgid;
	uint64_t from, to;
};

typedef VEC(struct call_stack) call_stacks;

/*
 * Writes a "thread" record of each MPI process's first thread, and of others that are inside an
 * MPI call, whose stacks are appended to stacks. addresses gets the places of the calls.
 * Nothing is stopped; takes a few ms where all threads run or sleep. Waits 0.1 s for the others.
 * These, and threads whose stacks cannot be walked, get no record, and a later look may find them.
 * Returns their number, not counting threads that are recorded only inside of a call. last: waits
 * 0.3 s, and they get a record with the reason.
 */
unsigned int threads_look(const struct track *track, struct addresses *addresses,
			  struct file_writer *writer, call_stacks *stacks, bool last);

#endif
