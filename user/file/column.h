/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A column: n numbers of 1 to 8 bytes, stored as byte planes (first the lowest byte of every
 * number, then the second lowest ...). A leading mask says which planes there are; a plane of zeros
 * is left out. Small numbers so cost few planes, and bytes of one significance compress together.
 */
#ifndef UCXBPF_FILE_COLUMN_H
#define UCXBPF_FILE_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Folds a difference modulo 2^(8 * width) so that small ones of either sign are small numbers. */
static inline uint64_t zigzag(uint64_t difference, unsigned int width)
{
	unsigned int shift = 64 - 8 * width;
	int64_t value = (int64_t)(difference << shift) >> shift;

	return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

/* The difference again; only its lowest width bytes count. */
static inline uint64_t unzigzag(uint64_t value)
{
	return (value >> 1) ^ -(value & 1);
}

/* Room for a column's mask and all of its planes. */
static inline size_t column_bound(size_t n, unsigned int width)
{
	return 1 + n * width;
}

/* Writes a column, returns the byte behind it. out: column_bound() bytes. */
uint8_t *column_put(uint8_t *out, const uint64_t *values, size_t n, unsigned int width);

/* The same for numbers of 4 bytes, of which the lowest skip bytes stay out. */
uint8_t *column_put_32(uint8_t *out, const uint32_t *values, size_t n, unsigned int skip);

/* Byte shift / 8 of each number: a plane by itself. Returns the byte behind it. */
uint8_t *plane_put_32(uint8_t *out, const uint32_t *values, size_t n, unsigned int shift);

/* A stored column, in place. */
struct column {
	uint8_t mask;
	const uint8_t *plane[8]; /* of those in the mask, in order */
};

/* Bytes still to be read; size 0 with bad set after anything that did not fit. */
struct column_input {
	const uint8_t *data;
	size_t size;
	bool bad;
};

/* Takes size bytes off the input; NULL and bad if there are fewer. */
const uint8_t *input_take(struct column_input *input, size_t size);

/* Finds the next column's planes. On bad input the column is all zeros. */
struct column column_open(struct column_input *input, size_t n, unsigned int width);

/* Copies numbers first .. first + n - 1; the caller keeps within the column. */
void column_get(const struct column *column, size_t first, size_t n, uint64_t *values);

#endif
