/* SPDX-License-Identifier: BSD-3-Clause */
/* The machines behind place_probe(). Private to probe/. */
#ifndef UCXBPF_PROBE_PLACE_ARCH_H
#define UCXBPF_PROBE_PLACE_ARCH_H

#include "probe/plan.h"

/* Bytes of a prologue that are searched. */
#define PLACE_WINDOW 64

/*
 * Bytes of a function worth handing over: branches back into the prologue are looked for in all of
 * them.
 */
#define PLACE_CODE_MAX 4096

/* As place_probe(), for a site that reads only these arguments (site_arguments()). */
struct placement place_probe_reading(int machine, const uint8_t *code, size_t size,
				     int needs_return, unsigned int arguments);

struct placement place_x86_64(const uint8_t *code, size_t size, int needs_return,
			      unsigned int arguments);
struct placement place_arm64(const uint8_t *code, size_t size, int needs_return);

#endif
