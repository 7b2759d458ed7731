/* SPDX-License-Identifier: BSD-3-Clause */
/* Distribution of values: a histogram whose memory does not grow with their number. */
#ifndef UCXBPF_SPREAD_H
#define UCXBPF_SPREAD_H

#include <stddef.h>
#include <stdint.h>

/* Buckets are 1/32 of their values wide: quantiles are within 1.6 % of the true ones. */
#define SPREAD_BUCKETS 1920

struct spread {
	uint64_t count;
	uint32_t buckets[SPREAD_BUCKETS]; /* up to 4 billion each */
};

void spread_add(struct spread *spread, uint64_t value);
void spread_join(struct spread *to, const struct spread *from);

/* The value that percent of all values do not exceed. There must be some. */
uint64_t spread_quantile(const struct spread *spread, unsigned int percent);

#endif
