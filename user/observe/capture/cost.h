/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The running cost of tracing: CPU time and memory of this process, and the time that the kernel
 * spends in our BPF programs. The kernel can measure the latter at 30 to 60 ns per hit, so it does
 * so in short samples only, and the rest is estimated from the hits.
 */
#ifndef UCXBPF_CAPTURE_COST_H
#define UCXBPF_CAPTURE_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "observe/capture/cells.h"
#include "observe/capture/kernel.h"

/* Samples, as sums for their mean per hit and its spread: ns in our programs and hits of each. */
struct cost_samples {
	unsigned int count; /* of those with hits */
	uint64_t hits;
	double time, time_time, time_hits, hits_hits; /* sums of products */
};

void cost_sampled(struct cost_samples *samples, uint64_t time, uint64_t hits);

/*
 * ns of that many hits. spread: the true value is within +-spread of it with 95 % probability, if
 * samples stand for the rest. NULL, or why there is no estimate: *ns and *spread are 0.
 */
const char *cost_estimate(const struct cost_samples *samples, uint64_t hits, uint64_t *ns,
			  uint64_t *spread);

struct cost {
	struct kernel *kernel;
	const struct cells *cells; /* of programs that count and leave their hits there */
	int sampling; /* file descriptor that makes the kernel measure, -1 = it does not */
	bool refused; /* needs CAP_SYS_ADMIN */
	uint64_t next, until; /* start of the next sample, end of this one; CLOCK_MONOTONIC ns */
	uint64_t time_before, hits_before; /* at the begin of this sample */
	struct cost_samples samples;
};

struct cost_report {
	uint64_t cpu_ns; /* of this process, user and system */
	uint64_t memory,
		memory_peak; /* resident bytes of this process, rings included; 0 = unknown */
	const char *kernel_unknown; /* why there is no kernel_ns; NULL: there is; static */
	/* in our programs, traps excluded: cost_estimate() */
	uint64_t kernel_ns, kernel_spread;
	uint64_t hits, sampled_hits;
	unsigned int samples; /* with hits */
};

/* Both outlive *cost. */
void cost_init(struct cost *cost, struct kernel *kernel, const struct cells *cells);

/*
 * Starts and ends samples; called at every step. recording: hot probes are in place, so a sample
 * may start. settled: no thread holds back hits of the sample, so it may end.
 */
void cost_step(struct cost *cost, bool recording, bool settled);

/* Ends a sample under way. */
void cost_end(struct cost *cost);

/* hits: all of them so far (struct ub_stats). */
struct cost_report cost_report(const struct cost *cost, uint64_t hits);

#endif
