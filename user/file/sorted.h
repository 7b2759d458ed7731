/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of format version 1, whose records are sorted by context (docs/format.md, "Wire records,
 * type 2"): to be read for good, not written any more.
 */
#ifndef UCXBPF_FILE_SORTED_H
#define UCXBPF_FILE_SORTED_H

#include "file/codec.h"

struct sorted_head {
	uint64_t base_ts; /* ub_hdr.ts of the first record */
	uint32_t records;
	uint32_t contexts;
	uint32_t kinds;
	uint32_t reserved;
};

/* One kind of record in this block: how to take it apart without knowing what it means. */
struct sorted_kind {
	uint8_t kind;
	uint8_t keyed; /* the first payload word is context.key and has no column */
	uint16_t size; /* of a whole record */
	uint32_t split; /* bit i: payload word i is two u32 with a column each */
};

_Static_assert(sizeof(struct sorted_head) == 24, "block head size");
_Static_assert(sizeof(struct sorted_kind) == 8, "block kind size");

struct sorted;

struct sorted *sorted_new(void); /* NULL: out of memory */
void sorted_free(struct sorted *sorted);

/* As decoder_open() and decoder_run(). */
long sorted_open(struct sorted *sorted, uint32_t n, const void *block, size_t size);
long sorted_run(struct sorted *sorted, void *out, struct block_row *rows);

#endif
