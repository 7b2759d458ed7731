/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a probe can stand in a function, by machine. Private to probe/. */
#ifndef UCXBPF_PROBE_PLACE_ARCH_H
#define UCXBPF_PROBE_PLACE_ARCH_H

#include "observe/probe/plan.h"

/* Bytes of a prologue that are searched. */
#define PLACE_WINDOW 64

/*
 * Bytes of a function worth passing: all of them are searched for branches back into the prologue.
 */
#define PLACE_CODE_MAX 4096

/*
 * Finds the cheapest probe address in a straight-line prologue where registers of these arguments
 * (site_arguments()) are intact, and, if needs_return, %rsp too. code: the function's first bytes,
 * size of them known. machine: EM_X86_64 or EM_AARCH64.
 */
struct placement place_probe_reading(int machine, const uint8_t *code, size_t size,
				     int needs_return, unsigned int arguments);

/*
 * UCX patches GPU drivers' functions in its own process: it writes a jump over their first bytes
 * (12 in src/ucm/bistro of 1.13 to 1.18; other tools use up to 14) and runs the overwritten
 * instructions from a copy. A breakpoint there would make that fail, or be copied in part: such a
 * function gets its probes behind them, and no return probe, which must be at its start.
 */
#define PLACE_PATCHED 14
#define PLACE_EXITS 16

struct body {
	struct placement entry;
	uint32_t exits[PLACE_EXITS]; /* of each instruction that returns: bytes from the start */
	unsigned int count;
};

/*
 * The entry and the exits of a function that others patch. code: all of it. -EINVAL: unknown (an
 * exit that is no return, no place for the entry); -EOPNOTSUPP: another machine.
 */
int place_body(struct body *body, int machine, const uint8_t *code, size_t size,
	       unsigned int arguments);
int place_body_x86_64(struct body *body, const uint8_t *code, size_t size, unsigned int arguments);

struct placement place_x86_64(const uint8_t *code, size_t size, int needs_return,
			      unsigned int arguments);
struct placement place_arm64(const uint8_t *code, size_t size, int needs_return);

#endif
