/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rings and the threads that empty them. Each thread writes chunks of its own, and sleeps as
 * long as its rings allow. There are two ways, and the way changes while a capture goes on.
 *
 * Where ranks leave a CPU for each thread, a thread has the rings of up to 4 CPUs of one NUMA node,
 * and runs on the free CPUs. Where they do not, each CPU has a thread of its own, bound to it, and
 * all of them wake at the same instants: multiples of 2, 4 or 8 ms of CLOCK_MONOTONIC. A collective
 * waits for whichever rank lost its CPU last, so all ranks lose theirs at once.
 *
 * Rings exist for CPUs on which traced tasks may run. Where a task runs elsewhere, its batch is
 * counted as lost and the ring is made within 10 ms. A ring that was half full gets one of twice
 * the size, as far as memory is planned for; the old one is emptied and goes once nothing has come
 * for 5 s.
 *
 * All functions are for the session's thread. Draining threads are told nothing but which rings
 * they have. They tell the session of records that a sieve (sieve.h) lets through. These come in
 * the order of their CPU, and of their thread where it stays on its CPU; of different CPUs in any
 * order: a child's exit may come before its fork.
 *
 * After an error of the file threads go on emptying rings, and what they take is counted as
 * refused.
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

struct drain;

/* Receives a record that passed the sieve; the memory is valid during the call. */
typedef void (*drain_fn)(void *arg, const struct ub_hdr *record);

/*
 * Both outlive *drain. ring_bytes: of each ring, a power of two and a multiple of the page size; 0:
 * planned (ring_plan.h). Makes the first ring. -ENOMEM and the like: printed.
 */
int drain_open(struct drain **drain, struct kernel *kernel, struct file_writer *writer,
	       size_t ring_bytes);

/* A NUMA node that rings may be on, for kernel_open(); -1: the kernel tells of none. */
int drain_any_node(void);

/*
 * Makes rings for the CPUs of processes, before they are traced, all at once: one by one costs a
 * grace period each. What fails is printed, once.
 */
void drain_cover(struct drain *drain, const pid_t *tgids, size_t count);

/*
 * Places threads, makes rings that were missing and larger ones, frees old ones, and gives what
 * passed the sieve to fn. buffers: whether addresses of buffers pass. To be called every 10 ms.
 */
void drain_step(struct drain *drain, bool buffers, drain_fn fn, void *arg);

/* Returns once all that was in the rings when it was called has been given to the file and to fn.
 */
void drain_sync(struct drain *drain, drain_fn fn, void *arg);

/* drain_sync(), also of what threads have kept back (kernel_rest()). -errno: not all of it. */
int drain_collect(struct drain *drain, drain_fn fn, void *arg);

/* The first failure to write, which nobody has printed; 0 = none so far. */
int drain_error(const struct drain *drain);

/* How full the fullest ring is now, 0 to 1. */
double drain_fill(const struct drain *drain);

/* Records taken, other than of processes coming and going; grows with every pass. */
uint64_t drain_others(const struct drain *drain);

/*
 * Says where ranks are, so that the next drain_step() places the threads: the CPUs on which some
 * rank may run, and how many ranks there are.
 */
void drain_avoid(struct drain *drain, const struct cpu_bits *busy, unsigned int ranks);

/* Empties the rings, ends the threads, and completes their chunks. Nothing is drained from then on.
 */
void drain_stop(struct drain *drain, drain_fn fn, void *arg);

/* What drained how much; CPU time is complete after drain_stop(). */
struct drain_report {
	unsigned int threads, rings, grown; /* grown: rings that became larger, each time */
	size_t ring_bytes, largest; /* of all rings that are used, of one */
	uint64_t cpu_ns, records;
	bool gang; /* a thread per CPU, all at once */
	unsigned int free_cpus; /* that no rank may run on, but the threads; 0: they share */
};
struct drain_report drain_report(const struct drain *drain);

/*
 * Ends threads that still run; what is in the rings and not in the file yet is let go. Before the
 * writer is closed.
 */
void drain_free(struct drain *drain);

#endif
