// SPDX-License-Identifier: BSD-3-Clause
#include "base/spread.h"

#define SUB_BITS 5
#define SUB (1u << SUB_BITS)

static unsigned int bucket_of(uint64_t value)
{
	unsigned int shift;

	if (value < SUB)
		return (unsigned int)value;
	shift = 63u - (unsigned int)__builtin_clzll(value) - SUB_BITS;
	return shift * SUB + (unsigned int)(value >> shift);
}

/* The middle of a bucket's values. */
static uint64_t value_of(unsigned int bucket)
{
	unsigned int shift = bucket < 2 * SUB ? 0 : bucket / SUB - 1;

	return ((uint64_t)(bucket - shift * SUB) << shift) + ((1ull << shift) - 1) / 2;
}

static void add_to(uint32_t *bucket, uint32_t count)
{
	*bucket = *bucket > UINT32_MAX - count ? UINT32_MAX : *bucket + count;
}

void spread_add(struct spread *spread, uint64_t value)
{
	spread->count++;
	add_to(&spread->buckets[bucket_of(value)], 1);
}

void spread_join(struct spread *to, const struct spread *from)
{
	to->count += from->count;
	for (size_t i = 0; i < SPREAD_BUCKETS; i++)
		add_to(&to->buckets[i], from->buckets[i]);
}

uint64_t spread_quantile(const struct spread *spread, unsigned int percent)
{
	uint64_t wanted = (spread->count * percent + 99) / 100, seen = 0;
	unsigned int i = 0;

	for (; i < SPREAD_BUCKETS - 1; i++) {
		seen += spread->buckets[i];
		if (seen >= wanted)
			break;
	}
	return value_of(i);
}
