// SPDX-License-Identifier: BSD-3-Clause
#include <string.h>

#include "file/codec.h"

#define TOGETHER 16 /* a constant number of steps: the compiler makes vector code of them */

/* Byte shift / 8 of each number; returns where the next plane goes. */
#define PLANE_PUT(name, type)                                                                      \
	uint8_t *name(uint8_t *restrict out, const type *restrict values, size_t n,                \
		      unsigned int shift)                                                          \
	{                                                                                          \
		size_t i = 0;                                                                      \
                                                                                                   \
		for (; i + TOGETHER <= n; i += TOGETHER)                                           \
			for (size_t k = 0; k < TOGETHER; k++)                                      \
				out[i + k] = (uint8_t)(values[i + k] >> shift);                    \
		for (; i < n; i++)                                                                 \
			out[i] = (uint8_t)(values[i] >> shift);                                    \
		return out + n;                                                                    \
	}

PLANE_PUT(plane_put_32, uint32_t)
static PLANE_PUT(plane_put_64, uint64_t)

	uint8_t *column_put(uint8_t *out, const uint64_t *values, size_t n, unsigned int width)
{
	uint8_t *mask = out++;
	uint64_t bits = 0;

	for (size_t i = 0; i < n; i++)
		bits |= values[i];
	*mask = 0;
	for (unsigned int b = 0; b < width; b++) {
		if (!(bits >> (8 * b) & 0xff))
			continue;
		*mask |= (uint8_t)(1u << b);
		out = plane_put_64(out, values, n, 8 * b);
	}
	return out;
}

uint8_t *column_put_32(uint8_t *out, const uint32_t *values, size_t n, unsigned int skip)
{
	uint8_t *mask = out++;
	uint32_t bits = 0;

	for (size_t i = 0; i < n; i++)
		bits |= values[i];
	*mask = 0;
	for (unsigned int b = skip; b < 4; b++) {
		if (!(bits >> (8 * b) & 0xff))
			continue;
		*mask |= (uint8_t)(1u << (b - skip));
		out = plane_put_32(out, values, n, 8 * b);
	}
	return out;
}

const uint8_t *input_take(struct column_input *input, size_t size)
{
	const uint8_t *data = input->data;

	if (size > input->size) {
		input->size = 0;
		input->bad = true;
		return NULL;
	}
	input->data += size;
	input->size -= size;
	return data;
}

struct column column_open(struct column_input *input, size_t n, unsigned int width)
{
	const uint8_t *mask = input_take(input, 1);
	struct column column = { 0 };
	unsigned int b, used = 0;

	if (!mask)
		return column;
	if (width < 8 && *mask >> width) {
		input->bad = true;
		return column;
	}
	for (b = 0; b < width; b++)
		if (*mask & 1u << b)
			column.plane[used++] = input_take(input, n);
	if (!input->bad)
		column.mask = *mask;
	return column;
}

#define PLANE_GET(name, type)                                                                      \
	static void name(type *restrict values, const uint8_t *restrict plane, size_t n,           \
			 unsigned int shift)                                                       \
	{                                                                                          \
		size_t i = 0;                                                                      \
                                                                                                   \
		for (; i + TOGETHER <= n; i += TOGETHER)                                           \
			for (size_t k = 0; k < TOGETHER; k++)                                      \
				values[i + k] |= (type)plane[i + k] << shift;                      \
		for (; i < n; i++)                                                                 \
			values[i] |= (type)plane[i] << shift;                                      \
	}

PLANE_GET(plane_get_32, uint32_t)
PLANE_GET(plane_get_64, uint64_t)

void column_get(const struct column *column, size_t first, size_t n, uint64_t *values)
{
	unsigned int used = 0;

	memset(values, 0, n * sizeof(*values));
	for (unsigned int mask = column->mask; mask; mask &= mask - 1)
		plane_get_64(values, column->plane[used++] + first, n,
			     8 * (unsigned int)__builtin_ctz(mask));
}

void column_get_32(const struct column *column, const uint8_t *const *low, size_t n,
		   unsigned int skip, uint32_t *values)
{
	unsigned int b, used = 0;

	memset(values, 0, n * sizeof(*values));
	for (b = 0; b < skip; b++)
		plane_get_32(values, low[b], n, 8 * b);
	for (; b < 4; b++)
		if (column->mask & 1u << (b - skip))
			plane_get_32(values, column->plane[used++], n, 8 * b);
}
