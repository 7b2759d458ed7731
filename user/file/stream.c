// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file/codec.h"
#include "file/writer.h"

_Static_assert(FILE_STREAM_RECORDS == ENCODER_RECORDS, "a chunk is one block");

struct file_stream {
	struct file_writer *writer;
	file_seen_fn fn;
	void *arg;
	uint32_t most; /* records of a chunk */
	uint32_t n; /* written by the stream's thread alone, read by others: atomic */
	struct encoder *encoder;
	uint8_t *block;
	struct packed packed;
};

static void release(struct file_stream *s)
{
	free(s->block);
	encoder_free(s->encoder);
	packed_release(&s->packed);
	free(s);
}

/* Has all memory now, so that a full machine cannot end a capture. */
static int stream_alloc(struct file_stream *s)
{
	const size_t block = encoder_bound(s->most);

	s->block = malloc(block);
	s->encoder = encoder_new();
	return s->block && s->encoder ? packed_init(&s->packed, block, true) : -ENOMEM;
}

int file_stream_open(struct file_stream **stream, struct file_writer *writer, uint32_t most,
		     file_seen_fn fn, void *arg)
{
	struct file_stream *s = calloc(1, sizeof(*s));
	int error;

	*stream = NULL;
	if (!s)
		return -ENOMEM;
	s->writer = writer;
	s->most = most;
	s->fn = fn;
	s->arg = arg;
	error = stream_alloc(s);
	if (error) {
		release(s);
		return error;
	}
	pthread_mutex_lock(&writer->lock);
	vec_push(&writer->streams, s);
	pthread_mutex_unlock(&writer->lock);
	*stream = s;
	return 0;
}

uint32_t stream_pending(const struct file_stream *s)
{
	return __atomic_load_n(&s->n, __ATOMIC_RELAXED);
}

void stream_emptied(struct file_stream *s)
{
	__atomic_store_n(&s->n, 0, __ATOMIC_RELAXED);
}

int file_stream_flush(struct file_stream *s)
{
	struct chunk_header head = { .type = CHUNK_RECORDS, .records = s->n };
	struct block_made block;
	int made;

	if (!s->n)
		return file_writer_error(s->writer);
	block = encoder_finish(s->encoder, s->block);
	head.min_ts = block.min_ts;
	head.max_ts = block.max_ts;
	made = packed_make(&s->packed, &head, s->block, block.parts, BLOCK_PARTS);
	return writer_append(s->writer, s, &s->packed, made, s->n);
}

/* Makes room for n records; what the writer does not take any more is counted. */
static int make_room(struct file_stream *s, uint32_t n)
{
	int error;

	if (s->n + n > s->most)
		file_stream_flush(s);
	error = file_writer_error(s->writer);
	if (error)
		writer_refuse(s->writer, n);
	return error;
}

/* Bytes of the records of a batch; 0: there are not so many in so many bytes. */
static size_t batch_bytes(const struct file_stream *s, const struct ub_batch *batch, size_t size)
{
	const uint8_t *first = (const uint8_t *)(batch + 1), *at = first;
	const uint8_t *end = (const uint8_t *)batch + size;

	if (size < sizeof(*batch) || batch->records > s->most)
		return 0;
	for (uint32_t i = 0; i < batch->records; i++) {
		const struct ub_hdr *h = (const struct ub_hdr *)at;
		size_t bytes = (size_t)(end - at) < sizeof(*h) ? 0 : ub_kind_size(h->kind);

		if (!bytes || (size_t)(end - at) < bytes)
			return 0;
		at += bytes;
	}
	return (size_t)(at - first);
}

int file_stream_batch(struct file_stream *s, const struct ub_batch *batch, size_t size)
{
	size_t bytes = batch_bytes(s, batch, size);
	const uint8_t *at = (const uint8_t *)(batch + 1);
	uint32_t n;
	int error;

	if (!bytes) {
		writer_refuse(s->writer,
			      size >= sizeof(*batch) && batch->records ? batch->records : 1);
		return -EBADMSG;
	}
	n = batch->records;
	error = make_room(s, n);
	if (error)
		return error;
	encoder_add(s->encoder, at, n, batch->cpu, batch->first_seq);
	for (uint32_t i = 0; s->fn && i < n; i++) {
		const struct ub_hdr *h = (const struct ub_hdr *)at;

		s->fn(s->arg, h, batch->cpu, batch->first_seq + i);
		at += ub_kind_size(h->kind);
	}
	__atomic_store_n(&s->n, s->n + n, __ATOMIC_RELAXED);
	return 0;
}

int file_stream_record(struct file_stream *s, const struct ub_hdr *record)
{
	int error;

	if (!ub_kind_size(record->kind))
		return -EINVAL;
	error = make_room(s, 1);
	if (error)
		return error;
	encoder_add(s->encoder, record, 1, record->cpu, record->cpu_seq);
	if (s->fn)
		s->fn(s->arg, record, record->cpu, record->cpu_seq);
	__atomic_store_n(&s->n, s->n + 1, __ATOMIC_RELAXED);
	return 0;
}

void file_stream_free(struct file_stream *s)
{
	struct file_writer *w;

	if (!s)
		return;
	w = s->writer;
	pthread_mutex_lock(&w->lock);
	for (size_t i = 0; i < w->streams.len; i++)
		if (w->streams.data[i] == s)
			w->streams.data[i--] = w->streams.data[--w->streams.len];
	pthread_mutex_unlock(&w->lock);
	release(s);
}
