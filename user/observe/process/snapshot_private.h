/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker as it is read from memory, shared by the snapshot*.c files only. */
#ifndef UCXBPF_PROCESS_SNAPSHOT_PRIVATE_H
#define UCXBPF_PROCESS_SNAPSHOT_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/map.h"
#include "base/vec.h"
#include "observe/process/snapshot.h"

/* ucp_tl_resource_desc_t, the same since 1.13. */
#define TL_STRIDE 60
#define TL_NAME_SIZE 10
#define TL_DEVICE 10
#define TL_DEVICE_SIZE 32

struct snap_iface {
	uint64_t address;
	char tl[TL_NAME_SIZE], device[TL_DEVICE_SIZE];
};

/* What is known of one worker; address_name, uuid as UCX has them. */
struct snap_worker {
	uint64_t address, uuid;
	char address_name[64];
	VEC(struct snap_iface) ifaces;
	struct map iface_index; /* address -> index + 1 */
};

/* One pass over the endpoints of a worker. */
struct snap_walk {
	struct snapshot *snapshot;
	const struct snap_worker *worker;
	uint64_t ts;
	json_t *records;
	struct map seen; /* uct_eps already recorded */
};

/* Sets the reason; returns error. */
int snap_refuse(struct snapshot *snapshot, int error, const char *reason);

/*
 * Reads all of size bytes, or returns an error with its reason. A page is read once until
 * snap_forget_pages(): for contents that change meanwhile use proc_read_memory().
 */
int snap_read(struct snapshot *snapshot, uint64_t address, void *buffer, size_t size);
int snap_pointer(struct snapshot *snapshot, uint64_t address, uint64_t *value);

void snap_forget_pages(struct snapshot *snapshot);

uint64_t snap_now(void);
bool snap_expired(const struct snapshot *snapshot);

/* Reads and validates a worker and its interfaces; release it also after an error. */
int snap_worker_load(struct snapshot *snapshot, uint64_t address, struct snap_worker *worker);
void snap_worker_release(struct snap_worker *worker);

/* Appends "uct_ep" and "ep" records of all the worker's endpoints. */
int snap_endpoints(struct snapshot *snapshot, const struct snap_worker *worker, uint64_t ts,
		   json_t *records);

/*
 * Appends "uct_ep" records of one endpoint's lanes, and their addresses to lanes. ext: its
 * extension. *all: these are proved to be all of them. They are not where a lane is not wired up
 * yet, or where some are in an array of unknown length.
 */
int snap_lanes(struct snap_walk *walk, uint64_t ep, uint64_t ext, json_t *lanes, bool *all);

/* ---- snapshot_queues.c ---- */
/* Rows of a record "queues". */
struct snap_queues {
	struct snapshot *snapshot;
	uint64_t worker;
	json_t *posted, *waiting, *sends;
	int64_t cut; /* that found no room in these */
};

/* Takes one link from the budget: a process may have made a list without an end. */
int snap_follow(struct snapshot *snapshot);

/* Brent's algorithm: a link is kept, for longer each time, and met again. Zeroed at first. */
struct snap_circle {
	uint64_t met;
	uint32_t steps, turn;
};

bool snap_circles(struct snap_circle *circle, uint64_t link);

/* A new row of the list; NULL: it has max rows, and the row is counted as cut. */
json_t *snap_row(struct snap_queues *queues, json_t *list, size_t max);
void snap_put_hex(json_t *row, uint64_t value);

/* ---- snapshot_sends.c ---- */
/* Appends the sends of the worker that are not done, from its pool and from threads' stacks. */
int snap_sends(struct snap_queues *queues, const struct snapshot_stack *stacks, size_t stack_count);

#endif
