/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts spans that overlap into lanes in which none do. */
#ifndef UCXBPF_EXPORT_LANES_H
#define UCXBPF_EXPORT_LANES_H

#include <stddef.h>
#include <stdint.h>

/* A zeroed struct lanes has none. */
struct lanes {
	uint64_t *least; /* a tree: the least end below each node, leaves behind room - 1 others */
	size_t room; /* leaves, a power of two or 0 */
};

void lanes_release(struct lanes *lanes);

/* All lanes are free again. */
void lanes_clear(struct lanes *lanes);

/* The first lane that is free at start. Spans must come in order of their starts. */
size_t lanes_take(struct lanes *lanes, uint64_t start, uint64_t end);

#endif
