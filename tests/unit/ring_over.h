/* SPDX-License-Identifier: BSD-3-Clause */
/* A ring over memory of a test's. */
#ifndef TESTS_UNIT_RING_OVER_H
#define TESTS_UNIT_RING_OVER_H

#include "observe/capture/ring.h"

static inline void ring_over(struct ring *ring, uint64_t *consumer, const uint64_t *producer,
			     const void *data, size_t bytes)
{
	*ring = (struct ring){ .fd = -1,
			       .bytes = bytes,
			       .consumer = consumer,
			       .producer = producer,
			       .data = data,
			       .taken = *consumer };
}

#endif
