/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI calls that threads are in, found by a look at their stacks: a call that began before the
 * trace has no record.
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
 * Writes a "thread" record of each MPI process's first thread, and of others that are inside an MPI
 * call, whose stacks are appended to stacks. addresses gets the places of the calls. Nothing is
 * stopped; takes a few ms if all threads run or sleep. Waits 0.1 s for the others. Those, and
 * threads whose stacks cannot be walked, get no record; a later look may find them. Returns their
 * number, without threads that are recorded only inside a call. last: waits 0.3 s, and gives them a
 * record with the reason.
 *
 * deadline (deadline.h): a stack not walked by then counts as one that cannot be walked. A process
 * gets half of the time that is left, lest its files, which may take long to read, hold up all
 * others.
 */
unsigned int threads_look(const struct track *track, struct addresses *addresses,
			  struct file_writer *writer, call_stacks *stacks, bool last,
			  uint64_t deadline);

#endif
