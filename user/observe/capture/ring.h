/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A BPF ring buffer as its consumer sees it (Linux, kernel/bpf/ringbuf.c): a page with the
 * consumer's position, a page with the producers' position, and the data, each piece of which
 * follows a header of 8 bytes. One thread consumes; others may ask how full the ring is.
 *
 * The data are mapped once: the kernel maps them twice so that a piece may wrap around the end, but
 * pages mapped twice count twice as resident memory. A piece that wraps is copied.
 */
#ifndef UCXBPF_CAPTURE_RING_H
#define UCXBPF_CAPTURE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ucxbpf.h"

/* The CPUs that get rings, the NUMA node of each ring, and the sizes of rings. */

struct cpu_bits {
	uint64_t words[UB_MAX_CPUS / 64];
};

static inline bool cpu_bits_has(const struct cpu_bits *bits, int cpu)
{
	return bits->words[cpu / 64] >> (cpu % 64) & 1;
}

static inline void cpu_bits_add(struct cpu_bits *bits, int cpu)
{
	bits->words[cpu / 64] |= 1ull << (cpu % 64);
}

/*
 * Adds the CPUs that threads of a process may run on, from the kernel: sched_setaffinity(2) within
 * its cpuset. If that is unknown, the online CPUs.
 */
void cpu_bits_add_process(struct cpu_bits *bits, pid_t tgid);

/* Adds the CPUs of a list as the kernel writes it ("0-3,8"). */
void cpu_bits_add_list(struct cpu_bits *bits, const char *list);

/* The NUMA node of each CPU below cpus; -1 throughout where the kernel reports no nodes. */
void cpu_nodes(int *nodes, int cpus);

/* Bytes. */
struct ring_plan {
	size_t first; /* size of a CPU's first ring */
	size_t most; /* size to which a ring grows */
	size_t total; /* of all rings, retired ones included */
};

/*
 * asked: of each ring, which then never grows; 0: a thousandth of the machine's memory for all
 * rings together, at least 48 MiB and at most 6 MiB per CPU. few: only processes and objects are
 * recorded, 24 MiB for all. cpus: online.
 */
struct ring_plan ring_plan(size_t asked, unsigned int cpus, uint64_t memory, bool few);

#define RING_PIECE_MAX (sizeof(struct ub_batch) + UB_MAX_BATCH) /* bytes */

struct ring {
	int fd; /* -1: memory of a test */
	size_t bytes; /* of data, a power of two */
	uint64_t *consumer; /* its page: written by the consumer, read by producers */
	const uint64_t *producer; /* its page: written by the kernel */
	const uint8_t *data;
	uint64_t taken; /* the consumer's own position */
	uint8_t over_end[RING_PIECE_MAX];
};

/*
 * A new ring of size bytes, a power of two and a multiple of the page size, on a NUMA node (-1:
 * any). -errno; then there is nothing to free.
 */
int ring_make(struct ring *ring, size_t bytes, int node);
void ring_free(struct ring *ring);

/*
 * From now on batches of each of these CPUs go into its ring, until it is replaced. map: "rings" of
 * bpf/maps.bpf.h. The kernel waits for a grace period, 20 ms on a busy machine, once for all of
 * them from Linux 5.14 on, else for each. -errno, the first one; done[i]: whether the kernel has it
 * now, whatever failed.
 */
int rings_set(int map, const int *cpus, const struct ring *const *rings, unsigned int count,
	      bool *done);

/* Receives a piece; the memory is valid during the call. */
typedef void (*ring_fn)(void *arg, const void *piece, size_t size);

/*
 * Passes every piece that was there at the call to fn, in order; ends earlier at one that is still
 * being written. The room is returned to the producers every 64 KiB. Returns how many bytes were
 * consumed; later pieces are left to the next call, so that the call ends however fast producers
 * are. A piece of more than RING_PIECE_MAX that wraps is given as size 0.
 */
size_t ring_take(struct ring *ring, ring_fn fn, void *arg);

/* The share of the ring in use, 0 to 1. Any thread. */
double ring_fill(const struct ring *ring);

#endif
