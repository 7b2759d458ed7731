/* SPDX-License-Identifier: BSD-3-Clause */
/* Time in ns. */
#ifndef UCXBPF_BASE_CLOCK_H
#define UCXBPF_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Reads a clock that cannot fail, ns. */
static inline uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
