/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The UCX objects that live in a process now: workers, interfaces, endpoints and their peers. Read
 * through the process's memory while it runs on; nothing is stopped or written. Every pointer is
 * checked against what UCX guarantees (back pointers, names, ranges), so a layout that does not
 * fit, or an object that is being torn down, gives an error and never a wrong record.
 */
#ifndef UCXBPF_PROCESS_SNAPSHOT_H
#define UCXBPF_PROCESS_SNAPSHOT_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "observe/process/layout.h"
#include "observe/process/library.h"

/* Most links of a process's queues that a look follows: far more than an MPI rank has. */
#define SNAPSHOT_LINKS 65536

struct snapshot {
	pid_t pid, ns_pid;
	const struct layout *layout;
	uint64_t deadline; /* CLOCK_MONOTONIC ns: calls fail with -ETIME from then on */
	uint64_t bytes; /* read so far */
	uint32_t links; /* of lists and pools that may still be followed, for all workers */
	const char *reason; /* why the last call failed; static text */
	struct snapshot_pages *pages; /* read by the call that is under way; NULL: none yet */
};

/* Starts the clock. layout must outlive the snapshot and not be NULL. */
void snapshot_init(struct snapshot *snapshot, pid_t pid, const struct layout *layout,
		   unsigned int deadline_ms);

void snapshot_release(struct snapshot *snapshot);

typedef void (*snapshot_emit)(void *arg, const json_t *record);

/*
 * Passes on the side records of one ucp_worker_h: "worker", then its "iface"s, "uct_ep"s, "ep"s.
 * All or nothing, but for -ETIME: then the records read in time were passed on, and are right.
 * -EBADMSG: an invariant does not hold, see reason; -ESRCH, -EACCES.
 */
int snapshot_worker(struct snapshot *snapshot, uint64_t worker, snapshot_emit emit, void *arg);

/*
 * Searches the process's anonymous memory (resident pages only) for interfaces of the mapped UCT
 * libraries, and writes their workers, each once and validated, to workers[]. Returns how many;
 * -ETIME if the time ran out before any was found. Finds nothing where a process has no worker.
 * Takes at most three quarters of the remaining time, which leaves some to read the workers found.
 */
int snapshot_find_workers(struct snapshot *snapshot, const mapped_libraries *mapped,
			  uint64_t *workers, int max);

/* A part of a thread's stack: blocking calls keep requests there. */
struct snapshot_stack {
	uint64_t from, to;
};

/*
 * A worker's tag matching queues as one "queues" record: posted receives, unexpected messages, and
 * incomplete sends, from requests in UCX's own pool and on these stacks. If they cannot be read, or
 * not all of them in time or with the links that are left, the record gives the reason, and has the
 * entries that were read.
 */
void snapshot_queues(struct snapshot *snapshot, uint64_t worker,
		     const struct snapshot_stack *stacks, size_t stack_count, snapshot_emit emit,
		     void *arg);

#endif
