/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks of a capture on their way to its file: made, sealed, and written, several at a time. What
 * the file does not take leaves it with whole chunks.
 */
#ifndef UCXBPF_FILE_OUTPUT_H
#define UCXBPF_FILE_OUTPUT_H

#include <stdbool.h>
#include <zstd.h>

#include "file/chunk.h"

/*
 * Disk space is held behind the end of a regular file: OUTPUT_RESERVE, or a quarter of what was
 * free at the start where that is less. Once it can no longer be had, there is room for this much
 * more.
 */
#define OUTPUT_RESERVE (16u << 20)

struct output {
	int fd;
	uint64_t reserve; /* bytes to hold; 0: the file system cannot hold any */
	uint64_t held; /* where the space that is held ends, in bytes of the file */
	bool tried; /* to hold some */
	bool scarce; /* less than the reserve is left */
	char *path;
	bool holds_none; /* no space, whatever the file system can do */
	bool started; /* a capture that was there has its other name */
	bool created; /* there was no file, or an empty one */
	bool keeps; /* there is a capture, to be kept as PATH.old */
	uint64_t bytes; /* of complete chunks, and the file header */
};

/* A chunk being made: header and compressed payload in one piece. One thread at a time. */
struct packed {
	ZSTD_CCtx *zstd;
	ZSTD_CCtx *noise; /* for bytes that hardly repeat: looks for no matches */
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
 * Makes a frame of each part of a payload: the last one compressed, the first of several stored,
 * those in between as bytes that are not equally frequent. The caller fills type, records, min_ts,
 * max_ts of head. -ENOMEM.
 */
int packed_make(struct packed *packed, const struct chunk_header *head, const void *raw,
		const size_t *parts, unsigned int n);

/*
 * Gives a chunk that was made the counters as they stand. Returns its size in bytes: it begins at
 * packed->start.
 */
size_t packed_seal(struct packed *packed, const struct ub_stats *stats, uint64_t refused);

/*
 * Opens the file for this writer alone; its content stays until the first chunk comes. Errors as of
 * file_writer_open(). On error nothing is left open.
 */
int output_open(struct output *output, const char *path);

/*
 * Appends sealed chunks that lie behind each other. On error the file is cut back to its last whole
 * chunk; *whole: bytes of those of them that are in the file.
 */
int output_put(struct output *output, const void *chunks, size_t size, size_t *whole);

/* Puts a file that is written likewise in the place of this one. 0 or -errno: nothing is changed.
 */
int output_replace(struct output *output, struct output *with);

/* Returns an error that the system reports only now. A file that got no chunk is as before. */
int output_close(struct output *output);

#endif
