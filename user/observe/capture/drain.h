/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rings and the threads that drain them. Each thread writes chunks of its own, and sleeps as
 * long as its rings allow. There are two modes, and the mode may change during a capture.
 *
 * Where ranks leave a CPU for each thread, a thread has the rings of up to 4 CPUs of one NUMA node,
 * and runs on the free CPUs. Where they do not, each CPU has a thread of its own, bound to it, and
 * all of them wake at the same instants: multiples of 2, 4 or 8 ms of CLOCK_MONOTONIC, as the
 * fullest ring needs it. A collective waits for the rank that was preempted last, so all ranks are
 * preempted at once, and for equally long: threads end their chunks in the same passes.
 *
 * Rings exist for CPUs on which traced tasks may run. If a task runs elsewhere, its batch is
 * counted as lost and the ring is made within 10 ms. A ring that was half full gets one of twice
 * the size, within the planned memory; the old one is drained and freed after 5 s without data.
 *
 * All functions are for the session's thread. Draining threads know their rings only. They pass
 * records that their sieve (drainer.h) selects to the session: in order per CPU, and per thread
 * while it stays on its CPU, but in any order between CPUs, so that a child's exit may come before
 * its fork.
 *
 * After a write error threads go on draining, and count the records as refused.
 */
#ifndef UCXBPF_CAPTURE_DRAIN_H
#define UCXBPF_CAPTURE_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "observe/capture/kernel.h"
#include "observe/capture/ring.h"
#include "file/file.h"

struct ring_drain;

/* Receives a record that passed the sieve; the memory is valid during the call. */
typedef void (*drain_fn)(void *arg, const struct ub_hdr *record);

/*
 * Both outlive *drain. ring_bytes: of each ring, a power of two and a multiple of the page size; 0:
 * planned (ring.h). few: only processes and objects are recorded, so that threads need little
 * memory. Makes the first ring. -ENOMEM and the like: printed.
 */
int drain_open(struct ring_drain **drain, struct kernel *kernel, struct file_writer *writer,
	       size_t ring_bytes, bool few);

/* A NUMA node that rings may be on, for kernel_open(); -1: the kernel reports none. */
int drain_any_node(void);

/*
 * Makes rings for the CPUs of processes, before they are traced, all at once: one by one would cost
 * a grace period each. Failures are printed once.
 */
void drain_cover(struct ring_drain *drain, const pid_t *tgids, size_t count);

/*
 * Places threads, makes rings that were missing and larger ones, frees old ones, and gives what
 * passed the sieve to fn. buffers: whether addresses of buffers pass. To be called every 10 ms.
 */
void drain_step(struct ring_drain *drain, bool buffers, drain_fn fn, void *arg);

/*
 * Whether nothing is traced: then threads sleep for long. Records of starts and ends of processes
 * may wait in the rings meanwhile.
 */
void drain_rest(struct ring_drain *drain, bool resting);

/* Returns once the rings' contents at the time of the call have reached fn, and chunks of the file.
 */
void drain_sync(struct ring_drain *drain, drain_fn fn, void *arg);

/* drain_sync(), with the records in the outboxes of threads (kernel_rest()). -errno: incomplete. */
int drain_collect(struct ring_drain *drain, drain_fn fn, void *arg);

/*
 * Completes the chunks of all threads, so that the next flush writes all records that fn has had.
 */
void drain_end_chunks(struct ring_drain *drain);

/* The first write error, not printed yet; 0 = none so far. */
int drain_error(const struct ring_drain *drain);

/* How full the fullest ring is now, 0 to 1. */
double drain_fill(const struct ring_drain *drain);

/* Records drained, other than starts and ends of processes; grows with every pass. */
uint64_t drain_others(const struct ring_drain *drain);

/*
 * Sets the CPUs that ranks may run on and the number of ranks; the next drain_step() places the
 * threads accordingly.
 */
void drain_avoid(struct ring_drain *drain, const struct cpu_bits *busy, unsigned int ranks);

/* Empties the rings, ends the threads, and completes their chunks. Nothing is drained from then on.
 */
void drain_stop(struct ring_drain *drain, drain_fn fn, void *arg);

/* Figures of the draining threads; CPU time is complete after drain_stop(). */
struct drain_report {
	unsigned int threads, rings, grown; /* grown: number of times that a ring became larger */
	size_t ring_bytes, largest; /* bytes of all rings in use, of one */
	uint64_t cpu_ns, records;
	bool gang; /* a thread per CPU, all waking at once */
	unsigned int free_cpus; /* CPUs for the threads only; 0: they share the ranks' CPUs */
};
struct drain_report drain_report(const struct ring_drain *drain);

/*
 * Ends threads that still run and discards records that are not in the file yet. To be called
 * before the writer is closed.
 */
void drain_free(struct ring_drain *drain);

#endif
