/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wire records to a block that a general compressor packs well, and back; lossless, in the order of
 * the records. Pure: buffers in, buffers out, all memory had beforehand. The block's layout is in
 * docs/format.md ("Wire records, type 4").
 */
#ifndef UCXBPF_FILE_CODEC_H
#define UCXBPF_FILE_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "file/chunk.h"
#include "ucxbpf.h"

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

struct block_encoder;

#define ENCODER_RECORDS (1u << 13) /* of one block at most */

struct block_encoder *encoder_new(void); /* NULL: out of memory */
void encoder_free(struct block_encoder *encoder);

/* Bytes that a block of n records takes at most. */
size_t encoder_bound(uint32_t n);

struct encoder_news {
	const struct ub_hdr *record;
	uint32_t i; /* which one of the n */
};

/* Records behind each other; they get cpu and the numbers from cpu_seq on, whatever they have. */
struct encoder_batch {
	const void *records;
	size_t size; /* bytes */
	uint32_t n; /* records that there should be; the block must have room for them */
	uint16_t cpu;
	uint32_t cpu_seq;
};

struct encoder_added {
	uint32_t records; /* fewer than n: the next one is of no known kind, or not whole */
	uint32_t shown; /* how many are news */
	const struct encoder_news *news; /* which ones; valid until the next call */
};

/*
 * Adds records. News are those in which a word of watched[kind] is not as in the last record of
 * their context, and at least the first one of a context. Bits 2 i and 2 i + 1 are payload word i;
 * 0: the kind has no news; UINT64_MAX: each of its records is.
 */
struct encoder_added encoder_add(struct block_encoder *encoder, const struct encoder_batch *batch,
				 const uint64_t *watched);

struct block_made {
	size_t parts[BLOCK_PARTS]; /* bytes of each, one behind the other */
	uint64_t min_ts, max_ts; /* of ub_hdr.ts */
};

/* Writes the block of all records added, at least one, and begins a new one. */
struct block_made encoder_finish(struct block_encoder *encoder, uint8_t *out);

/* ---- decoder ---- */

struct block_decoder;

struct block_decoder *decoder_new(void); /* NULL: out of memory */
void decoder_free(struct block_decoder *decoder);

struct block_row {
	uint64_t ts;
	uint32_t offset; /* of the record in the output */
	uint32_t order; /* position in the block */
};

/*
 * Begins with a block of n records: returns how many bytes they take, or -EBADMSG. The block must
 * stay until decoder_run().
 */
long decoder_open(struct block_decoder *decoder, uint32_t n, const void *block, size_t size);

/*
 * Writes the records to out, of decoder_open()'s size, and their places to rows in the block's
 * order; returns how many. Records of a kind that this program does not know are left out; of a
 * kind that has grown since, the known part is given, of one that was smaller, zeros for the rest.
 * whole: the kinds, as bits, whose records are given in full; of all others only the headers are,
 * behind each other, and unless all kinds are whole, no header has the numbers of its frames.
 * -EBADMSG: contradicts itself.
 */
#define DECODE_ALL UINT64_MAX
long decoder_run(struct block_decoder *decoder, void *out, struct block_row *rows, uint64_t whole);

/*
 * A column: n numbers of 1 to 8 bytes, stored as byte planes (first the lowest byte of every
 * number, then the second lowest ...). A leading mask says which planes there are; a plane of zeros
 * is left out. Small numbers so cost few planes, and bytes of one significance compress together.
 */

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

/* Copies n numbers of 4 bytes. low: planes of their skip lowest bytes, which the column lacks. */
void column_get_32(const struct column *column, const uint8_t *const *low, size_t n,
		   unsigned int skip, uint32_t *values);

/*
 * The next record of a thread as it is expected, the same in encoder and decoder: a block stores
 * only where a record differs (docs/format.md).
 *
 * A context is the records of one thread that agree in site, kind, layout, flags, in which frame
 * numbers are there, and mostly in their first payload word. It keeps what its last record had.
 */

/* In which ways a record is not as expected; each bit has a number in a column, in this order. */
enum how {
	HOW_CONTEXT = 1 << 0, /* its context is not the one that followed last time */
	HOW_SEQ = 1 << 1,
	HOW_CALL = 1 << 2,
	HOW_OP = 1 << 3,
	HOW_RX = 1 << 4,
	HOW_DUR = 1 << 5,
	HOW_LONG = 1 << 6, /* its time is more than 32 bits from that of the thread's last one */
	HOW_WORDS = 1 << 7, /* some payload words are not those of the context's last record */
};

/* A thread's last record. */
struct thread_last {
	uint64_t ts;
	uint32_t dur;
	uint32_t seq; /* last frame number of its own */
	uint32_t call; /* the call that its next record is expected to be in */
	uint32_t history; /* of its last contexts */
	uint32_t cpu;
	uint32_t cpu_seq; /* expected of its next record */
};

/* A context's last record: how far its frame numbers are below seq. */
struct context_last {
	uint32_t seq; /* own frame number, less the thread's last one */
	uint32_t op, rx;
};

/* Which context followed last time after the same ones of a thread: number + 1, 0 = none yet. */
#define FOLLOWERS_BITS 13

struct followers {
	uint16_t context[1 << FOLLOWERS_BITS];
};

static inline uint16_t *follower(struct followers *followers, const struct thread_last *thread)
{
	return &followers->context[thread->history * 0x9e3779b1u >> (32 - FOLLOWERS_BITS)];
}

/* The last four decide. */
static inline uint32_t history_with(uint32_t history, uint32_t context)
{
	return history << 8 ^ (context + 1) * 0x85ebca6bu >> 3;
}

/* A span around the thread's last record most likely ended a little after that one. */
static inline uint32_t expected_dur(const struct thread_last *last, uint64_t ts)
{
	uint64_t dur = last->ts + last->dur - ts;
	bool around = (last->dur != 0) & (ts <= last->ts) & (dur <= UINT32_MAX);

	return (uint32_t)dur & -(uint32_t)around;
}

/* The call around a thread's next record; a frame that is in no call is one itself. */
static inline uint32_t expected_call(uint32_t before, uint32_t seq, uint32_t call)
{
	if (call)
		return call;
	return seq ? seq : before;
}

/*
 * Blocks of format version 1, whose records are sorted by context (docs/format.md, "Wire records,
 * type 2"): to be read for good, not written any more.
 */
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

/* As decoder_open() and decoder_run() of all kinds. */
long sorted_open(struct sorted *sorted, uint32_t n, const void *block, size_t size);
long sorted_run(struct sorted *sorted, void *out, struct block_row *rows);

#endif
