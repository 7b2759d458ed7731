/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records of all chunks in order of time, by windows: the records before the first one of the
 * chunk that comes next are sorted together. A chunk is loaded for the window of its first record
 * and let go after its last one, so memory is that of chunks whose time spans overlap. One early
 * record (a span that began long before it was written) does not keep its chunk in memory: where
 * many other chunks come before the next record, it is put aside and loaded again.
 */
#ifndef UCXBPF_FILE_MERGE_H
#define UCXBPF_FILE_MERGE_H

#include "base/vec.h"
#include "file/codec.h"
#include "file/chunk.h"

typedef VEC(struct block_row) block_rows;

/* A decoded chunk. */
struct contents {
	block_rows rows; /* in the order in which they lie there; without those handed out */
	uint64_t memory, stored; /* bytes that it takes, and in the file */
	VEC(uint8_t) records;
};

/* A chunk in memory. */
struct merge_run {
	uint64_t next; /* ts of the first record that is still to come */
	uint32_t chunk; /* position in the file: decides between equal ts */
	struct contents *contents;
};

struct merge_due {
	uint64_t ts; /* of its first record, or of the next one if it was put aside */
	uint32_t chunk; /* position in the file */
};

struct merge_row {
	uint64_t ts;
	const struct ub_hdr *record;
};

struct merge {
	struct loader *loader;
	struct block_decoder *decoder;
	struct sorted *sorted; /* NULL before the first chunk of version 1 */
	const struct chunk_ref *chunks;
	VEC(struct merge_due) order; /* chunks with records, by their ts */
	size_t next; /* first of order that is not loaded */
	VEC(struct merge_run) loaded; /* by their places in the file */
	VEC(struct contents *) idle; /* kept for their memory */
	struct chunk_memory memory; /* of contents that are not idle */
	/* The window: all records before a time that were not handed out before. */
	VEC(struct merge_row) rows, spare;
	const struct merge_row *sorted_rows; /* in one of both */
	size_t at; /* the next of them, or of apart */
	uint64_t from; /* where the next window begins */
	struct contents *apart; /* the chunk that is read by merge_next_stored() */
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
