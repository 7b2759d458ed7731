/* SPDX-License-Identifier: BSD-3-Clause */
/* The sections of a page: columns of numbers in the narrowest type, or text, compressed. */
#ifndef UCXBPF_PAGE_PACK_H
#define UCXBPF_PAGE_PACK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct page_section {
	char name[32];
	json_t *columns; /* NULL: text */
	VEC(unsigned char) content; /* until it is packed */
	size_t bytes;
	unsigned char *packed; /* a zlib stream, which browsers inflate themselves */
	size_t packed_bytes;
};

struct page_pack {
	VEC(struct page_section) sections;
	VEC(uint64_t) values; /* values of the current column */
	uint64_t rounded; /* numbers above 2^53 */
	size_t total; /* bytes of all of them, packed */
};

void page_pack_release(struct page_pack *pack);

/* Starts a section; columns: of numbers, else text. */
void page_pack_begin(struct page_pack *pack, const char *name, bool columns);

/* Returns room for the numbers of a column; the second call adds the column. */
uint64_t *page_pack_values(struct page_pack *pack, size_t count);
void page_pack_column(struct page_pack *pack, const char *name, size_t count);

void page_pack_text(struct page_pack *pack, const char *text, size_t bytes);

/* Adds JSON as text; frees the value. */
void page_pack_json(struct page_pack *pack, json_t *value);

/* Compresses the current section. */
void page_pack_end(struct page_pack *pack);

/* Removes the sections from that position on, or only that one. */
void page_pack_cut(struct page_pack *pack, size_t position);
void page_pack_drop(struct page_pack *pack, size_t position);

#endif
