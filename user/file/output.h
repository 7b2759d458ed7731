/* SPDX-License-Identifier: BSD-3-Clause */
/* The file as a writer sees it: whole chunks are appended, or nothing. */
#ifndef UCXBPF_FILE_OUTPUT_H
#define UCXBPF_FILE_OUTPUT_H

#include <stdbool.h>
#include <zstd.h>

#include "file/chunk.h"

struct output {
	int fd;
	char *path;
	bool started; /* the former content is overwritten */
	bool created; /* there was no file, or an empty one */
	uint64_t bytes; /* of complete chunks, and the file header */
};

/* A chunk being made: header and compressed payload in one piece. One thread at a time. */
struct packed {
	ZSTD_CCtx *zstd;
	ZSTD_CCtx *noise; /* for bytes that never repeat: looks for no matches */
	struct chunk_start *start; /* header, and behind it room for a payload */
	size_t room;
};

/*
 * max_raw: largest payload before compression; the memory for it is had now, so that a full machine
 * cannot end a capture. records: payloads are blocks of wire records. -ENOMEM; packed_release() is
 * due all the same.
 */
int packed_init(struct packed *packed, size_t max_raw, bool records);
void packed_release(struct packed *packed);

/*
 * Compresses a payload of parts that lie behind each other, each by itself, all but the last one as
 * noise; the caller fills type, records, min_ts, max_ts of head. -ENOMEM.
 */
int packed_make(struct packed *packed, const struct chunk_header *head, const void *raw,
		const size_t *parts, unsigned int n);

/*
 * Opens the file for this writer alone; its content stays until the first chunk comes. -EEXIST:
 * it holds something that is no capture; -EWOULDBLOCK: another writer has it. On error nothing is
 * left open.
 */
int output_open(struct output *output, const char *path);

/*
 * Appends a chunk that was made, with the counters as they stand. On error the file is as it was
 * before.
 */
int output_append(struct output *output, struct packed *packed, const struct ub_stats *stats,
		  uint64_t refused);

/* Returns an error that the system reports only now. A file that got no chunk is as before. */
int output_close(struct output *output);

#endif
