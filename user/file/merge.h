/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records of all chunks in order of time. A chunk is loaded when the order reaches its first
 * record and let go after its last one, so memory is that of chunks whose time spans overlap. One
 * early record (a span that began long before it was written) does not keep its chunk in memory:
 * where many other chunks come before the next record, it is put aside and loaded again.
 */
#ifndef UCXBPF_FILE_MERGE_H
#define UCXBPF_FILE_MERGE_H

#include "base/vec.h"
#include "file/codec.h"
#include "file/chunk.h"

/* A decoded chunk. */
struct contents {
	struct block_row *rows; /* sorted: one of the two below */
	uint32_t n;
	uint64_t memory, stored; /* bytes that it takes, and in the file */
	VEC(struct block_row) read;
	VEC(struct block_row) spare;
	VEC(uint8_t) records;
};

/* What is still to come of a chunk. */
struct merge_run {
	uint64_t ts; /* of its next record */
	uint32_t chunk; /* position in the file: decides between equal ts */
	uint32_t at; /* next row */
	struct contents *contents; /* NULL: put aside */
};

struct merge_due {
	uint64_t ts; /* of its first record */
	uint32_t chunk; /* position in the file */
};

struct merge {
	struct loader *loader;
	struct block_decoder *decoder;
	struct sorted *sorted; /* NULL before the first chunk of version 1 */
	const struct chunk_ref *chunks;
	VEC(struct merge_due) order; /* record chunks by their first ts */
	size_t next; /* first of order that was not loaded yet */
	VEC(struct merge_run) heap; /* by (ts, chunk) */
	VEC(struct contents *) idle; /* kept for their memory */
	struct chunk_memory memory; /* of contents in the heap */
	bool given; /* the first record of the heap's top has been handed out */
	struct merge_run apart; /* the chunk that is read by merge_next_stored() */
	uint64_t damaged; /* bytes of chunks that could not be used */
};

/* Borrows loader and the scan's chunks. -ENOMEM. */
int merge_init(struct merge *merge, struct loader *loader, const struct chunk_scan *scan);
void merge_release(struct merge *merge);

/* As file_reader_next(). */
int merge_next(struct merge *merge, const struct ub_hdr **record);

/* As file_reader_next_stored(). */
int merge_next_stored(struct merge *merge, const struct ub_hdr **record);

#endif
