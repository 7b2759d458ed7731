/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds rows of an array by their key, which is the first bytes of each row, without padding in it.
 * The caller owns the array and only appends to it. Rows that exist before the set's first use are
 * indexed with it.
 */
#ifndef UCXBPF_BASE_ROWSET_H
#define UCXBPF_BASE_ROWSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A zeroed one is empty. */
struct rowset {
	struct rowset_slot *slots;
	size_t slot_count; /* power of two */
};

struct rowset_slot {
	uint32_t row; /* its number + 1; 0: free */
	uint32_t hash; /* upper half of its key's hash: avoids most comparisons with other rows */
};

/* Where the rows lie, and how many bytes of each are its key. */
struct rowset_rows {
	const void *data;
	size_t len, size, key;
};

#define ROWSET_ROWS(vec, key_size)                                                                 \
	((struct rowset_rows){ (vec)->data, (vec)->len, sizeof(*(vec)->data), (key_size) })

void rowset_release(struct rowset *set);

/* Makes room for one more row. */
void rowset_grow(struct rowset *set, const struct rowset_rows *rows);

static inline const void *rowset_row(const struct rowset_rows *rows, size_t number)
{
	return (const char *)rows->data + number * rows->size;
}

static inline uint64_t rowset_mix(uint64_t a, uint64_t b)
{
	const unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t rowset_word(const void *key, size_t at)
{
	uint64_t word;

	memcpy(&word, (const char *)key + at, sizeof(word));
	return word;
}

/* Pairs of words are multiplied independently of each other. */
static inline uint64_t rowset_hash(const void *key, size_t size)
{
	const uint64_t odd = 0x9e3779b97f4a7c15u;
	uint64_t sum = size, salt = odd;
	size_t at = 0;

	for (; at + 16 <= size; at += 16, salt += 2 * odd)
		sum += rowset_mix(rowset_word(key, at) ^ salt,
				  rowset_word(key, at + 8) ^ (salt + odd));
	for (; at + 8 <= size; at += 8, salt += odd)
		sum += rowset_mix(rowset_word(key, at) ^ salt, odd);
	for (; at < size; at++, salt += odd)
		sum += rowset_mix(((const uint8_t *)key)[at] ^ salt, odd);
	return rowset_mix(sum ^ odd, salt);
}

static inline bool rowset_holds(const struct rowset_slot *slot, uint32_t hash,
				const struct rowset_rows *rows, const void *key)
{
	return slot->hash == hash && !memcmp(rowset_row(rows, slot->row - 1), key, rows->key);
}

/* The slot of this key, or the free one where it belongs, with its hash. */
static inline struct rowset_slot *rowset_at(const struct rowset *set,
					    const struct rowset_rows *rows, const void *key)
{
	const uint64_t hash = rowset_hash(key, rows->key);
	const size_t mask = set->slot_count - 1;
	size_t i = hash & mask;

	while (set->slots[i].row &&
	       !rowset_holds(&set->slots[i], (uint32_t)(hash >> 32), rows, key))
		i = (i + 1) & mask;
	set->slots[i].hash = (uint32_t)(hash >> 32);
	return &set->slots[i];
}

/* The index of the row with this key; rows.len: not found, and the caller must append it next. */
static inline size_t rowset_add(struct rowset *set, struct rowset_rows rows, const void *key)
{
	struct rowset_slot *slot;

	if (rows.len * 2 >= set->slot_count)
		rowset_grow(set, &rows);
	slot = rowset_at(set, &rows, key);
	if (!slot->row)
		slot->row = (uint32_t)rows.len + 1;
	return slot->row - 1;
}

/* Likewise without appending. */
static inline size_t rowset_find(const struct rowset *set, struct rowset_rows rows, const void *key)
{
	const struct rowset_slot *slot = set->slot_count ? rowset_at(set, &rows, key) : NULL;

	return slot && slot->row ? slot->row - 1 : rows.len;
}

#endif
