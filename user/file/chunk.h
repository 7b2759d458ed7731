/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks on disk, byte for byte (docs/format.md), and how they are found and read. Everything is
 * little-endian.
 */
#ifndef UCXBPF_FILE_CHUNK_H
#define UCXBPF_FILE_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "base/vec.h"
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

/*
 * Memory that readers take for the content of chunks: so much for each of their bytes in the file,
 * no more than so much for a file and for all that are open, and so much beyond it for all of them.
 * Files of ucxbpf take up to 150 bytes for each, and 230 MiB for the side records of 192 ranks with
 * 192 endpoints each. A file made for the purpose could take 600,000 for a byte.
 */
#define READ_RATIO 512
#define READ_MOST (4ull << 30)
#define READ_ALL (16ull << 30)
#define READ_BEYOND (64ull << 20)

/* Memory that a file's chunks take, and their bytes in the file. Starts as zeros. */
struct chunk_memory {
	uint64_t taken, stored;
};

/* Takes memory for more of them; false: there is no more, and nothing was taken. */
bool chunk_memory_take(struct chunk_memory *memory, uint64_t size, uint64_t stored);

void chunk_memory_return(struct chunk_memory *memory, uint64_t size, uint64_t stored);

/* The header as this version writes it, with its loss counters. */
struct chunk_start {
	struct chunk_header head;
	struct ub_stats stats;
};

/* Whether a chunk holds wire records. */
static inline bool chunk_has_records(const struct chunk_header *head)
{
	return head->type == CHUNK_RECORDS || head->type == CHUNK_SORTED;
}

/* Bytes of a chunk, its payload included. */
static inline uint64_t chunk_size(const struct chunk_header *head)
{
	return (uint64_t)head->header_size + head->stored_size;
}

/* The checksum of a stored payload. */
uint64_t chunk_payload_sum(const void *payload, size_t size);

/* Computes the header's checksum: last of all. */
void chunk_seal(struct chunk_start *start);

/* Finds the chunks of a file by their headers, also behind damaged parts. Reads no payload. */
struct chunk_ref {
	uint64_t offset; /* of the payload */
	struct chunk_header head;
};

struct chunk_scan {
	VEC(struct chunk_ref) chunks; /* whole ones, in file order */
	struct ub_stats stats; /* of the last one */
	uint64_t skipped; /* bytes that belong to no chunk, without a torn last one */
	uint64_t refused;
	bool torn; /* the last chunk is only partly there */
	bool ended; /* the writer closed the file */
};

/* Scans a file of size bytes behind its file header. Returns 0 or -errno of pread(2). */
int scan_file(struct chunk_scan *scan, int fd, uint64_t size);

void scan_release(struct chunk_scan *scan);

/* Reads up to size bytes at offset; returns how many there were, or -errno. */
long read_at(int fd, void *data, size_t size, uint64_t offset);

/* Reads one chunk's payload: checksum, decompression. */
struct loader {
	int fd;
	ZSTD_DCtx *zstd;
	VEC(uint8_t) stored;
	VEC(uint8_t) raw;
};

/* Borrows fd. -ENOMEM. */
int loader_init(struct loader *loader, int fd);
void loader_release(struct loader *loader);

/* Checks the payload's checksum: 0, -EBADMSG or -errno of pread(2). */
int loader_check(struct loader *loader, const struct chunk_ref *chunk);

/*
 * Leaves the payload, head.raw_size bytes, in loader->raw until the next call. -EBADMSG: damaged;
 * else -errno of pread(2).
 */
int loader_read(struct loader *loader, const struct chunk_ref *chunk);

#endif
