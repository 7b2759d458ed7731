/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UCX objects that predate the trace. Workers, ifaces and endpoints are read from the process once
 * at a late attach, and again when a record has an unknown pointer.
 */
#ifndef UCXBPF_CAPTURE_EXISTING_H
#define UCXBPF_CAPTURE_EXISTING_H

#include <pthread.h>

#include "base/map.h"
#include "base/vec.h"
#include "observe/capture/quota.h"
#include "observe/capture/threads.h"
#include "observe/capture/track.h"

/* An object that a record names, while nothing is known of it. */
struct stranger {
	pid_t tgid;
	uint64_t pointer;
	const struct layout *layout; /* of its copy of UCX */
	bool is_iface; /* else a ucp_ep */
	uint64_t next; /* its process is not read before; side_now() ns */
};

/* A process to be read, with its copies of UCX that have one layout. */
struct unread {
	pid_t tgid;
	const struct layout *layout;
	mapped_libraries mapped; /* of these copies */
	int workers; /* found; negative: why none was */
};

#define EXISTING_THREADS_MAX 15 /* beside the session's own */

struct existing {
	struct track *track;
	struct file_writer *writer;
	struct map known; /* (tgid, pointer) -> hash of the last side record about it, 0: none */
	struct quota quota; /* of these */
	VEC(struct stranger) strangers;
	struct map pauses; /* tgid -> when its strangers may be read again; side_now() ns */
	pthread_mutex_t lock; /* protects known and everything below, while several threads read */
	/* (tgid, ucp_worker) -> twice the time of its last event, plus 1 while it lives */
	struct map workers;
	struct map layouts; /* of workers, by which their queues are read */
	struct quota workers_quota;
	VEC(struct unread) unread;
	size_t next; /* of unread, to be read */
	bool complete; /* no more will come: threads end after the last */
	pthread_cond_t more;
	pthread_t threads[EXISTING_THREADS_MAX];
	unsigned int threads_count;
};

void existing_init(struct existing *existing, struct track *track, struct file_writer *writer);
void existing_release(struct existing *existing);

/* Examines one record; cheap, called for every one. */
void existing_record(struct existing *existing, const struct ub_hdr *record);

/* The process has ended or runs a new program: forget its objects. */
void existing_forget(struct existing *existing, pid_t tgid);

/*
 * A process that was running before the trace: all its workers are read when the next
 * existing_read() returns. If there are several processes and CPUs, threads start at once.
 */
void existing_process(struct existing *existing, pid_t tgid);
void existing_read(struct existing *existing);

/* Stops reading processes: the writer may be closed then. */
void existing_abandon(struct existing *existing);

/*
 * Reads the unknown objects of records since the last call, with all of their workers, and writes
 * new and changed objects. A process pauses in proportion to the time that this took: its objects
 * wait for a later call. Others wait as well if there is no time before the deadline (deadline.h).
 */
void existing_apply(struct existing *existing, uint64_t deadline);

/* The same a last time, without a pause. Writes how many objects were left out. */
void existing_finish(struct existing *existing, uint64_t deadline);

/*
 * Reads the objects of processes that were traced from their start, once each, when they have
 * workers: after a time without probes such a process is like one attached late. late: only
 * processes that had mapped a library before it was probed.
 */
void existing_read_started(struct existing *existing, bool late);

/*
 * Writes the queues of all live workers, and the requests of theirs on these stacks, which it
 * sorts.
 */
void existing_queues(struct existing *existing, call_stacks *stacks, struct file_writer *writer);

#endif
