/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer as its streams see it: what they share, and the lock around it. Private to file/. */
#ifndef UCXBPF_FILE_WRITER_H
#define UCXBPF_FILE_WRITER_H

#include <pthread.h>

#include "base/vec.h"
#include "file/file.h"
#include "file/output.h"

struct file_writer {
	pthread_mutex_t lock; /* of everything but own */
	struct output output;
	int error; /* of the first chunk that could not be stored; nothing is taken after it. Atomic
		    */
	uint64_t stored, refused;
	struct ub_stats stats;

	char *sides; /* JSON objects, each with a line end */
	size_t sides_size;
	uint32_t sides_n;
	struct packed packed; /* of side records */

	VEC(struct file_stream *) streams;
	struct file_stream *own; /* of file_writer_record(); NULL before the first one */
};

/*
 * Appends a chunk of n records, behind the side records that were made before. Counts the records
 * as stored or refused. made: what packed_make() returned.
 */
int writer_append(struct file_writer *writer, struct file_stream *stream, struct packed *packed,
		  int made, uint32_t n);

/* Counts a record that came after a failure. */
void writer_refuse(struct file_writer *writer, uint32_t n);

/* Records that a stream holds, for any thread. */
uint32_t stream_pending(const struct file_stream *stream);
void stream_emptied(struct file_stream *stream);

#endif
