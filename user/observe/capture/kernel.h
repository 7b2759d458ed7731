/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's half of a capture: BPF programs loaded, maps filled, counters. Rings are made and
 * drained elsewhere (drain.h).
 * Everything is owned by file descriptors: closing them (or dying) leaves nothing behind.
 */
#ifndef UCXBPF_CAPTURE_KERNEL_H
#define UCXBPF_CAPTURE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/level.h"
#include "base/vec.h"
#include "observe/probe/links.h"
#include "ucxbpf.h"

struct kernel;
struct ucxbpf;

struct kernel_options {
	enum link_mechanism mechanism;
	enum level level; /* programs of other layers are not loaded */
	int node; /* an online NUMA node: rings are made on nodes; -1: they are not */
	bool call_ends; /* MPI calls with their returns */
	bool count; /* sums instead of records of calls, operations and transfers */
	bool stacks; /* user stacks at calls, and at operations outside of them */
	bool derive; /* MPI calls from their operations' stacks, see derive.h */
};

/* Loads and fills the site table. -EPERM, -ENOSYS, -ENOMEM...: printed once, with what to do. */
int kernel_open(struct kernel **kernel, const struct kernel_options *options);
void kernel_free(struct kernel *kernel);

typedef VEC(struct ub_task_hits) task_hits;

/* Appends the number of hits so far of each traced task; with --count all of it as UB_GROUP_UCP. */
void kernel_task_hits(const struct kernel *kernel, task_hits *tasks);

/* The loaded object. */
struct ucxbpf *kernel_object(const struct kernel *kernel);

/* Programs for links. */
const struct link_programs *kernel_programs(const struct kernel *kernel);

/* Sets the layout that programs use for a libucp of that slot. -errno. */
int kernel_set_layout(struct kernel *kernel, unsigned int slot, const struct ub_layout *layout);

/* To be called before the probes whose cookies have the number. */
int kernel_set_wrappers(struct kernel *kernel, unsigned int number,
			const struct ub_wrappers *wrappers);

/* Room in the map "rows", with stacks; 8 bytes each. */
#define KERNEL_ROWS (1u << 22)

/* Room in the map "callers", with derive; 16 bytes each. */
#define KERNEL_CALLERS (1u << 19)

/* File descriptor of a map by its name in bpf/; the caller does not own it. */
int kernel_map(const struct kernel *kernel, const char *name);

/*
 * Records the process from now on, until it exits or is forgotten; -errno. kernel_is_traced():
 * whether it is recorded.
 */
int kernel_trace_process(struct kernel *kernel, pid_t tgid);
void kernel_forget_process(struct kernel *kernel, pid_t tgid);
bool kernel_is_traced(struct kernel *kernel, pid_t tgid);

/* Allows or forbids return probes on this process's MPI calls; allowed at first. */
int kernel_allow_call_ends(struct kernel *kernel, pid_t tgid, bool allow);

/* Programs stop awaiting returns of MPI calls: before links_drop_call_returns(). */
void kernel_end_call_ends(struct kernel *kernel);

/* Ends a window, before probes are removed: only lives of objects and processes are recorded. */
void kernel_pause(struct kernel *kernel);

/*
 * Only these groups (enum ub_group, one bit each) record: probes of others are removed some ms
 * later.
 */
void kernel_set_groups(struct kernel *kernel, unsigned int groups);

/* Starts a window, once all probes are in place: calls entered earlier count as ended. */
void kernel_resume(struct kernel *kernel);

/* Recording starts in mid-run: for a while all tasks read the positions of their messages. */
void kernel_begin_positions(struct kernel *kernel, uint64_t now);

/* From now on no record is produced; records in the rings stay. */
void kernel_stop(struct kernel *kernel);

/*
 * Threads hold records in outboxes, since these travel in batches. Reading n bytes from this file
 * puts the outboxes of up to n threads into the ring of the reading CPU: one byte is read per
 * thread, which takes at most KERNEL_REST of the ring. EAGAIN: read on. Only while no hot probe is
 * in place, or hot probes only count. The caller closes it; -errno.
 */
#define KERNEL_REST (UB_MAX_BATCH + 512) /* bytes: a batch, and separate loss records */
int kernel_rest(struct kernel *kernel);

/* Number of possible CPUs. */
int kernel_cpus(const struct kernel *kernel);

/*
 * Number of the last ones that this machine does not have: UCXBPF_TEST_CPUS=192 in the environment
 * makes a test use the rings and threads of a node with 192 CPUs.
 */
int kernel_made_up_cpus(const struct kernel *kernel);

/* Whether that CPU had a batch without a ring since the last call. */
bool kernel_ring_missing(struct kernel *kernel, int cpu);

/* The slices with detail, a mask as in bpf/ucxbpf.h. */
void kernel_set_detail(struct kernel *kernel, uint64_t slices);

/*
 * ns in our programs on a job's time, while the kernel measured it (BPF_ENABLE_STATS) for any user.
 */
uint64_t kernel_run_time(const struct kernel *kernel);

/* Counters summed over CPUs. */
int kernel_stats(struct kernel *kernel, struct ub_stats *stats);

/* Records that found no room so far; thinned ones do not count. As kernel_stats(). */
int kernel_lost(struct kernel *kernel, uint64_t *records);

#endif
