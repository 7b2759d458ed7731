// SPDX-License-Identifier: BSD-3-Clause
#include <string.h>
#include <xxhash.h>

#include "show/export/spans.h"

/* Shapes are made from zero, so that bytes between their members are alike. */
uint32_t spans_shape_number(struct spans *spans, const struct span_shape *shape)
{
	uint64_t hash = XXH3_64bits(shape, sizeof(*shape)), *number;

	for (uint64_t n = 0;; n++) {
		bool fresh;

		number = map_insert(&spans->shape_numbers, hash, n, &fresh);
		if (fresh)
			break;
		if (!memcmp(&spans->shapes.data[*number], shape, sizeof(*shape)))
			return (uint32_t)*number;
	}
	*number = spans->shapes.len;
	memcpy(vec_add(&spans->shapes), shape, sizeof(*shape));
	return (uint32_t)(spans->shapes.len - 1);
}
