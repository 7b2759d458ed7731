/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds rows of an array by their key, which is the first bytes of each row, without padding in it.
 * The caller owns the array and only ever appends to it. Rows that are there before the set's first
 * are indexed with it.
 */
#ifndef UCXBPF_BASE_ROWSET_H
#define UCXBPF_BASE_ROWSET_H

#include <stddef.h>
#include <stdint.h>

/* A zeroed one is empty. */
struct rowset {
	uint32_t *slots; /* number of a row + 1, 0: free */
	size_t slot_count; /* power of two */
};

/* Where the rows lie, and how many bytes of each are its key. */
struct rowset_rows {
	const void *data;
	size_t len, size, key;
};

#define ROWSET_ROWS(vec, key_size)                                                                 \
	((struct rowset_rows){ (vec)->data, (vec)->len, sizeof(*(vec)->data), (key_size) })

void rowset_release(struct rowset *set);

/* The number of the row with this key; rows.len: no row has it, and the caller appends it next. */
size_t rowset_add(struct rowset *set, struct rowset_rows rows, const void *key);

/* Likewise without appending. */
size_t rowset_find(const struct rowset *set, struct rowset_rows rows, const void *key);

#endif
