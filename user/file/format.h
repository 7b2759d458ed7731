/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is on disk, byte for byte (docs/format.md says it in words). Everything is little-endian.
 */
#ifndef UCXBPF_FILE_FORMAT_H
#define UCXBPF_FILE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ucxbpf.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "captures are little-endian");

/* A byte above 127, a line end and an end-of-text byte: broken by any transfer that is not binary.
 */
#define FILE_MAGIC "\x89UCXB\r\n\x1a"
#define FILE_MAGIC_SIZE 8
#define FILE_VERSION 2

/* Which of ub_hdr's frame numbers are not 0. */
enum frames {
	FRAMES_SEQ = 1 << 0,
	FRAMES_CALL = 1 << 1,
	FRAMES_OP = 1 << 2,
	FRAMES_RX = 1 << 3,
};

struct file_header {
	uint8_t magic[FILE_MAGIC_SIZE];
	uint32_t version; /* FILE_VERSION */
	uint32_t wire; /* UB_WIRE_VERSION */
};

enum chunk_type {
	CHUNK_SIDES = 1,
	CHUNK_SORTED = 2, /* wire records as version 1 stored them: read, not written */
	CHUNK_END = 3,
	CHUNK_RECORDS = 4, /* wire records, since version 2 */
};

#define CHUNK_MAGIC 0x0a6b6e75684355ffULL /* ff "UChunk" 0a */

struct chunk_header {
	uint64_t magic;
	uint32_t header_size; /* this struct and the loss counters behind it */
	uint32_t type;
	uint32_t stored_size; /* payload behind the header: zstd frames, one or, in type 4, several
			       */
	uint32_t raw_size; /* of the payload once decompressed */
	uint32_t records; /* wire records, or side records */
	uint32_t reserved;
	uint64_t min_ts; /* of ub_hdr.ts in this chunk; 0 where it holds no wire record */
	uint64_t max_ts;
	uint64_t refused; /* records that the writer could not store so far */
	uint64_t payload_sum; /* XXH64, seed 0, of the stored payload */
	uint64_t header_sum; /* XXH64, seed 0, of header_size bytes with this field 0 */
};

_Static_assert(sizeof(struct file_header) == 16, "file header size");
_Static_assert(sizeof(struct chunk_header) == 72, "chunk header size");

/* Bounds that a reader enforces before it allocates anything. */
#define CHUNK_MAX_HEADER 4096
#define CHUNK_MAX_RAW (32u << 20)
#define CHUNK_MAX_STORED (CHUNK_MAX_RAW + (CHUNK_MAX_RAW >> 7) + 4096)
#define CHUNK_MAX_RECORDS (1u << 16)

/* What a writer makes: the header with the loss counters of this version. */
struct chunk_start {
	struct chunk_header head;
	struct ub_stats stats;
};

/* Whether a chunk holds wire records. */
static inline bool chunk_has_records(const struct chunk_header *head)
{
	return head->type == CHUNK_RECORDS || head->type == CHUNK_SORTED;
}

/* Computes both checksums; payload is head.stored_size bytes. */
void chunk_seal(struct chunk_start *start, const void *payload);

/* Whether size bytes at data start with a whole, undamaged and permissible chunk header. */
bool chunk_header_valid(const void *data, size_t size);

/* Whether the stored_size bytes behind a valid header are what was written. */
bool chunk_payload_valid(const struct chunk_header *head, const void *payload);

#endif
