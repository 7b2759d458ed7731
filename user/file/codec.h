/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wire records to a block that a general compressor packs well, and back; lossless, in the order of
 * the records. Pure: buffers in, buffers out, all memory had beforehand. The block's layout is in
 * docs/format.md ("Wire records, type 4").
 */
#ifndef UCXBPF_FILE_CODEC_H
#define UCXBPF_FILE_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "file/format.h"

struct block_head {
	uint64_t base_ts; /* ub_hdr.ts of the first record */
	uint32_t records;
	uint32_t durs; /* length of COLUMN_DUR */
	uint32_t kinds;
	uint32_t reserved;
};

/*
 * A block is compressed in parts, each by itself: the lowest bytes of all times and durations,
 * which are noise, the second lowest, whose frequencies differ and which never repeat, and the
 * rest.
 */
enum block_part { PART_LOWEST, PART_LOW, PART_REST, BLOCK_PARTS };

#define BLOCK_LOW_BYTES 2 /* of COLUMN_DUR and COLUMN_TS: in the first parts */

/* One kind of record in this block: how to take it apart without knowing what it means. */
struct block_kind {
	uint8_t kind;
	uint8_t reserved;
	uint16_t size; /* of a whole record */
	uint32_t split; /* bit i: payload word i is two numbers of 32 bits */
	uint32_t records;
};

_Static_assert(sizeof(struct block_head) == 24, "block head size");
_Static_assert(sizeof(struct block_kind) == 12, "block kind size");

#define BLOCK_MAX_KINDS 64
#define BLOCK_MAX_WORDS 32 /* payload words of a record */
#define BLOCK_MAX_CONTEXTS UINT16_MAX

/* Columns of numbers of 32 bits that a block has once, in file order. */
enum block_column {
	COLUMN_CONTEXT, /* those of enum how first, in its order */
	COLUMN_SEQ,
	COLUMN_CALL,
	COLUMN_OP,
	COLUMN_RX,
	COLUMN_DUR,
	COLUMN_LONG,
	COLUMN_WORDS,
	COLUMN_TS,
	COLUMN_RUN_THREAD, /* number of the thread, new if it is that of no thread before */
	COLUMN_RUN_CPU,
	COLUMN_RUN_RECORDS,
	COLUMN_RUN_SEQ, /* ub_hdr.cpu_seq of the first record */
	COLUMN_THREAD_TGID,
	COLUMN_THREAD_TID,
	COLUMN_CONTEXT_SORT, /* of a new context: kind, layout, flags */
	COLUMN_CONTEXT_SITE, /* site, enum frames */
	BLOCK_COLUMNS
};

/* ---- encoder ---- */

struct encoder;

#define ENCODER_RECORDS (1u << 13) /* of one block at most */

struct encoder *encoder_new(void); /* NULL: out of memory */
void encoder_free(struct encoder *encoder);

/* Bytes that a block of n records takes at most. */
size_t encoder_bound(uint32_t n);

/*
 * Adds n records of known kinds that lie behind each other; the block must have room for them. They
 * get cpu and the numbers from cpu_seq on, whatever they themselves have there.
 */
void encoder_add(struct encoder *encoder, const void *records, uint32_t n, uint16_t cpu,
		 uint32_t cpu_seq);

struct block_made {
	size_t parts[BLOCK_PARTS]; /* bytes of each, one behind the other */
	uint64_t min_ts, max_ts; /* of ub_hdr.ts */
};

/* Writes the block of all records added, at least one, and begins a new one. */
struct block_made encoder_finish(struct encoder *encoder, uint8_t *out);

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
