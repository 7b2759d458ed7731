/* SPDX-License-Identifier: BSD-3-Clause */
/* The file as a writer sees it: whole chunks are appended, or nothing. */
#ifndef UCXBPF_FILE_OUTPUT_H
#define UCXBPF_FILE_OUTPUT_H

#include <stdbool.h>
#include <zstd.h>

#include "file/format.h"

struct output {
	int fd;
	char *path;
	bool started; /* what was in the file before is gone */
	bool created; /* there was no file, or an empty one */
	uint64_t bytes; /* of complete chunks, and the file header */
	ZSTD_CCtx *zstd;
	struct chunk_start *chunk; /* header, and behind it room for a payload */
	size_t room;
};

/*
 * Opens the file for this writer alone; what it holds stays until the first chunk comes. -EEXIST:
 * it holds something that is no capture; -EWOULDBLOCK: another writer has it. max_raw: largest
 * payload before compression; the memory for it is had now, so that a full machine cannot end a
 * capture. On error nothing is left open.
 */
int output_open(struct output *output, const char *path, size_t max_raw);

/*
 * Appends a chunk; the caller fills type, records, min_ts, max_ts, refused of head, the rest is
 * filled here. On error the file is as it was before.
 */
int output_chunk(struct output *output, const struct chunk_header *head,
		 const struct ub_stats *stats, const void *raw, size_t size);

/* Returns an error that the system reports only now. A file that got no chunk is as before. */
int output_close(struct output *output);

#endif
