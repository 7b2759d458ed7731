/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wire records to a block of columns that a general compressor packs well, and back; lossless, in
 * the order of the records. Pure: buffers in, buffers out, all memory had beforehand. The block's
 * layout is in docs/format.md.
 */
#ifndef UCXBPF_FILE_CODEC_H
#define UCXBPF_FILE_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "file/format.h"

struct block_head {
	uint64_t base_ts; /* ub_hdr.ts of the first record */
	uint32_t records;
	uint32_t contexts;
	uint32_t kinds;
	uint32_t reserved;
};

/* One kind of record in this block: how to take it apart without knowing what it means. */
struct block_kind {
	uint8_t kind;
	uint8_t keyed; /* the first payload word is context.key and has no column */
	uint16_t size; /* of a whole record */
	uint32_t split; /* bit i: payload word i is two u32 with a column each */
};

_Static_assert(sizeof(struct block_head) == 24, "block head size");
_Static_assert(sizeof(struct block_kind) == 8, "block kind size");

#define BLOCK_MAX_KINDS 64
#define BLOCK_MAX_WORDS 32 /* payload words of a record */
#define BLOCK_MAX_COLUMNS (2 * BLOCK_MAX_WORDS)

/* A column of a payload: a field of 4 or 8 bytes at an offset into the record. */
struct block_field {
	uint8_t width;
	uint16_t offset;
};

/* Lists the columns of a kind's payload in file order; returns how many. */
unsigned int block_fields(const struct block_kind *kind,
			  struct block_field fields[BLOCK_MAX_COLUMNS]);

/* ---- encoder ---- */

struct encoder;

/*
 * Records of one block at most. Few enough for a block's columns and contexts to stay in a core's
 * second-level cache while it is made.
 */
#define ENCODER_RECORDS (1u << 13)

struct encoder *encoder_new(void); /* NULL: out of memory */
void encoder_free(struct encoder *encoder);

/* Bytes that a block of n records of together size bytes takes at most. */
size_t encoder_bound(uint32_t n, size_t size);

/*
 * Encodes n (1 to ENCODER_RECORDS) records that lie behind each other, each of ub_kind_size()
 * bytes. Returns the block's size.
 */
size_t encoder_run(struct encoder *encoder, const void *records, uint32_t n, uint8_t *out);

/* ---- decoder ---- */

struct decoder;

struct decoder *decoder_new(void); /* NULL: out of memory */
void decoder_free(struct decoder *decoder);

struct block_row {
	uint64_t ts;
	uint32_t offset; /* of the record in the output */
	uint32_t order; /* position in the block */
};

/*
 * Begins with a block of n records: returns how many bytes they take, or -EBADMSG. The block must
 * stay until decoder_run().
 */
long decoder_open(struct decoder *decoder, uint32_t n, const void *block, size_t size);

/*
 * Writes the records to out, of decoder_open()'s size, and their places to rows in the block's
 * order; returns how many. Records of a kind that this program does not know are left out; of a
 * kind that has grown since, the known part is given, of one that was smaller, zeros for the rest.
 * -EBADMSG: contradicts itself.
 */
long decoder_run(struct decoder *decoder, void *out, struct block_row *rows);

#endif
