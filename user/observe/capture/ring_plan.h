/* SPDX-License-Identifier: BSD-3-Clause */
/* Which CPUs get rings, on which NUMA node each one is, and how large rings are. */
#ifndef UCXBPF_CAPTURE_RING_PLAN_H
#define UCXBPF_CAPTURE_RING_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ucxbpf.h"

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
 * Adds the CPUs on which threads of a process may run, as the kernel has them: sched_setaffinity(2)
 * within its cpuset. Where that is not to be had, the CPUs that are online.
 */
void cpu_bits_add_process(struct cpu_bits *bits, pid_t tgid);

/* Adds the CPUs of a list as the kernel writes it ("0-3,8"). */
void cpu_bits_add_list(struct cpu_bits *bits, const char *list);

/* The NUMA node of each CPU below cpus; -1 throughout where the kernel tells of no nodes. */
void cpu_nodes(int *nodes, int cpus);

/* Bytes. */
struct ring_plan {
	size_t first; /* of a CPU's first ring */
	size_t most; /* to which a ring grows */
	size_t total; /* of all rings, those included that are about to go */
};

/*
 * asked: of each ring, which then never grows; 0: a thousandth of the machine's memory for all
 * rings together, at least 48 MiB and at most 6 MiB per CPU. cpus: online.
 */
struct ring_plan ring_plan(size_t asked, unsigned int cpus, uint64_t memory);

#endif
