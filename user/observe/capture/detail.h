/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The amount of recorded detail. Under pressure, calls, operations and transfers are recorded in
 * some time slices only (UB_SLICES in bpf/ucxbpf.h) and added up in the others, so that the
 * processes of a node keep or lose their records together. Each change is a side record "detail".
 */
#ifndef UCXBPF_CAPTURE_DETAIL_H
#define UCXBPF_CAPTURE_DETAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "observe/capture/kernel.h"
#include "file/file.h"

struct detail {
	struct kernel *kernel;
	struct file_writer *writer;
	unsigned int kept; /* slices with detail of UB_SLICES; a power of two unless fixed */
	bool fixed; /* by --thin */
	unsigned int pressed; /* steps in a row that found a ring too full, or records lost */
	uint64_t lost; /* records that had found no room at the last step */
	uint64_t calm_since; /* side_now() ns: no ring was much filled since then */
};

/* The slices with detail if kept of UB_SLICES have it: evenly spread, bit 0 if any. */
uint64_t detail_mask(unsigned int kept);

/* kept: 0: as the rings allow; else fixed. The kernel is loaded and outlives *detail. */
void detail_init(struct detail *detail, struct kernel *kernel, struct file_writer *writer,
		 unsigned int kept);

/*
 * To be called every 10 ms. fill: use of the fullest ring, 0 to 1; lost: records that found no room
 * so far.
 */
void detail_step(struct detail *detail, double fill, uint64_t lost);

/* From now on nothing has detail, whatever --thin demands. fill: as in detail_step(). */
void detail_end(struct detail *detail, const char *reason, double fill);

#endif
