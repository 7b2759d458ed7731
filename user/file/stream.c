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
	uint8_t *records; /* room for so many of the largest */
	size_t size;
	uint32_t n; /* written by the stream's thread alone, read by others: atomic */
	uint64_t min_ts, max_ts;
	struct encoder *encoder;
	uint8_t *block;
	struct packed packed;
};

static void release(struct file_stream *s)
{
	free(s->records);
	free(s->block);
	encoder_free(s->encoder);
	packed_release(&s->packed);
	free(s);
}

/* Has all memory now, so that a full machine cannot end a capture. */
static int stream_alloc(struct file_stream *s)
{
	const size_t bytes = (size_t)s->most * UB_MAX_RECORD;
	const size_t block = encoder_bound(s->most, bytes);

	s->records = malloc(bytes);
	s->block = malloc(block);
	s->encoder = encoder_new();
	return s->records && s->block && s->encoder ? packed_init(&s->packed, block) : -ENOMEM;
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
	s->size = 0;
	__atomic_store_n(&s->n, 0, __ATOMIC_RELAXED);
}

int file_stream_flush(struct file_stream *s)
{
	const struct chunk_header head = {
		.type = CHUNK_RECORDS,
		.records = s->n,
		.min_ts = s->min_ts,
		.max_ts = s->max_ts,
	};
	size_t size;
	int made;

	if (!s->n)
		return file_writer_error(s->writer);
	size = encoder_run(s->encoder, s->records, s->n, s->block);
	made = packed_make(&s->packed, &head, s->block, size);
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

/* A record that lies at the end of the stream's memory. */
static void take(struct file_stream *s, const struct ub_hdr *record, uint32_t before)
{
	if (!before || record->ts < s->min_ts)
		s->min_ts = record->ts;
	if (!before || record->ts > s->max_ts)
		s->max_ts = record->ts;
	if (s->fn)
		s->fn(s->arg, record);
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
	uint32_t n;
	uint8_t *at;
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
	at = memcpy(s->records + s->size, batch + 1, bytes);
	for (uint32_t i = 0; i < n; i++) {
		struct ub_hdr *h = (struct ub_hdr *)at;

		h->cpu = batch->cpu;
		h->cpu_seq = batch->first_seq + i;
		take(s, h, s->n + i);
		at += ub_kind_size(h->kind);
	}
	s->size = (size_t)(at - s->records);
	__atomic_store_n(&s->n, s->n + n, __ATOMIC_RELAXED);
	return 0;
}

int file_stream_record(struct file_stream *s, const struct ub_hdr *record)
{
	size_t size = ub_kind_size(record->kind);
	int error;

	if (!size)
		return -EINVAL;
	error = make_room(s, 1);
	if (error)
		return error;
	memcpy(s->records + s->size, record, size);
	take(s, record, s->n);
	s->size += size;
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
