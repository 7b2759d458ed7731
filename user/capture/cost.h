/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tracing costs while it goes on: CPU time and memory of this process, and the time that the
 * kernel spends in our BPF programs. The kernel can measure the latter, but that costs 30 to 60 ns
 * for each hit: so it is asked to for moments only, and the rest is estimated from the hits.
 */
#ifndef UCXBPF_CAPTURE_COST_H
#define UCXBPF_CAPTURE_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/cells.h"
#include "capture/kernel.h"

struct cost {
	struct kernel *kernel;
	const struct cells *cells; /* of programs that count and leave their hits there */
	int sampling; /* file descriptor that keeps the kernel measuring, -1 = it does not */
	bool refused; /* needs CAP_SYS_ADMIN */
	uint64_t next, until; /* begin of the next sample, end of this one; CLOCK_MONOTONIC ns */
	uint64_t time_before, hits_before; /* when this one began */
	uint64_t time, hits; /* in all samples: ns in our programs, hits */
};

/* What was measured; kernel_ns is an estimate, and known only once a hit was sampled. */
struct cost_report {
	uint64_t cpu_ns; /* of this process, user and system */
	uint64_t memory,
		memory_peak; /* resident bytes of this process, rings included; 0 = unknown */
	bool kernel_known;
	uint64_t kernel_ns; /* in our programs, without the traps that lead there */
	uint64_t hits, sampled_hits;
};

/* Both outlive *cost. */
void cost_init(struct cost *cost, struct kernel *kernel, const struct cells *cells);

/* Begins and ends samples: called all the time. */
void cost_step(struct cost *cost);

/* Ends a sample under way. */
void cost_end(struct cost *cost);

/* hits: all of them so far (struct ub_stats). */
struct cost_report cost_report(const struct cost *cost, uint64_t hits);

#endif
