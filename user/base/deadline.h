/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times by which work has to end, CLOCK_MONOTONIC ns. Who begins the work sets one and passes it
 * down. Work that repeats itself pauses in between, in proportion to the time that it took.
 */
#ifndef UCXBPF_BASE_DEADLINE_H
#define UCXBPF_BASE_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

#define DEADLINE_NONE UINT64_MAX

static inline uint64_t deadline_in(uint64_t ns)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);

	return ns > DEADLINE_NONE - now ? DEADLINE_NONE : now + ns;
}

static inline bool deadline_over(uint64_t deadline)
{
	return deadline != DEADLINE_NONE && clock_ns(CLOCK_MONOTONIC) >= deadline;
}

/* When work that took so many ns may be done again: it takes 5 % of the time at most. */
static inline uint64_t deadline_pause(uint64_t took)
{
	return deadline_in(20 * took);
}

#endif
