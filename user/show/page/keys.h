/* SPDX-License-Identifier: BSD-3-Clause */
/* The combinations of codes that occur, numbered from 0. */
#ifndef UCXBPF_PAGE_KEYS_H
#define UCXBPF_PAGE_KEYS_H

#include <stdint.h>

#include "base/vec.h"
#include "show/page/shapes.h"

struct page_key {
	uint32_t code[PAGE_COLUMNS]; /* of columns that the shape has not: 0 */
};

struct page_keys {
	VEC(struct page_key) rows;
	uint32_t *slots; /* number + 1, 0 = free */
	size_t slot_count; /* power of two */
};

void page_keys_release(struct page_keys *keys);

/* The number of this combination, made when new. */
uint32_t page_key_of(struct page_keys *keys, const struct page_key *key);

#endif
