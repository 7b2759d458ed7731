// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file/writer.h"

#define SIDE_MAX (8u << 20)
#define SIDES_CHUNK (1u << 20) /* side records are small and read at once: no need for more */

static void writer_free(struct file_writer *w)
{
	vec_release(&w->streams);
	pthread_mutex_destroy(&w->lock);
	packed_release(&w->packed);
	free(w->sides);
	free(w);
}

int file_writer_open(struct file_writer **writer, const char *path)
{
	struct file_writer *w = calloc(1, sizeof(*w));
	int error;

	*writer = NULL;
	if (!w)
		return -ENOMEM;
	pthread_mutex_init(&w->lock, NULL);
	w->sides = malloc(SIDE_MAX);
	error = w->sides ? packed_init(&w->packed, SIDE_MAX, false) : -ENOMEM;
	if (!error)
		error = output_open(&w->output, path);
	if (error) {
		writer_free(w);
		return error;
	}
	*writer = w;
	return 0;
}

int file_writer_error(struct file_writer *w)
{
	return __atomic_load_n(&w->error, __ATOMIC_RELAXED);
}

static void fail(struct file_writer *w, int error)
{
	if (error && !w->error)
		__atomic_store_n(&w->error, error, __ATOMIC_RELAXED);
}

static void flush_sides(struct file_writer *w)
{
	const struct chunk_header head = { .type = CHUNK_SIDES, .records = w->sides_n };
	int error = w->error;

	if (w->sides_n && !error)
		error = packed_make(&w->packed, &head, w->sides, &w->sides_size, 1);
	if (w->sides_n && !error)
		error = output_append(&w->output, &w->packed, &w->stats, w->refused);
	fail(w, error);
	w->sides_size = 0;
	w->sides_n = 0;
}

int writer_append(struct file_writer *w, struct file_stream *stream, struct packed *packed,
		  int made, uint32_t n)
{
	int error;

	pthread_mutex_lock(&w->lock);
	flush_sides(w);
	fail(w, made);
	if (!w->error)
		fail(w, output_append(&w->output, packed, &w->stats, w->refused));
	error = w->error;
	*(error ? &w->refused : &w->stored) += n;
	stream_emptied(stream);
	pthread_mutex_unlock(&w->lock);
	return error;
}

void writer_refuse(struct file_writer *w, uint32_t n)
{
	pthread_mutex_lock(&w->lock);
	w->refused += n;
	pthread_mutex_unlock(&w->lock);
}

int file_writer_record(struct file_writer *w, const struct ub_hdr *record)
{
	int error = w->own ? 0 : file_stream_open(&w->own, w, FILE_STREAM_RECORDS, NULL, NULL);

	return error ? error : file_stream_record(w->own, record);
}

int file_writer_side(struct file_writer *w, const json_t *side)
{
	const size_t flags = JSON_COMPACT;
	size_t size = json_dumpb(side, NULL, 0, flags);
	int error;

	if (!size || !json_is_string(json_object_get(side, "t")))
		return -EINVAL;
	if (size >= SIDE_MAX)
		return -EMSGSIZE;
	pthread_mutex_lock(&w->lock);
	if (w->sides_size + size >= SIDES_CHUNK)
		flush_sides(w);
	error = w->error;
	if (!error) {
		json_dumpb(side, w->sides + w->sides_size, size, flags);
		w->sides_size += size;
		w->sides[w->sides_size++] = '\n';
		w->sides_n++;
	}
	pthread_mutex_unlock(&w->lock);
	return error;
}

int file_writer_flush(struct file_writer *w, const struct ub_stats *stats)
{
	pthread_mutex_lock(&w->lock);
	if (stats)
		w->stats = *stats;
	flush_sides(w);
	pthread_mutex_unlock(&w->lock);
	return w->own ? file_stream_flush(w->own) : file_writer_error(w);
}

uint64_t file_writer_records(struct file_writer *w)
{
	uint64_t records;

	pthread_mutex_lock(&w->lock);
	records = w->stored;
	for (size_t i = 0; i < w->streams.len; i++)
		records += stream_pending(w->streams.data[i]);
	pthread_mutex_unlock(&w->lock);
	return records;
}

uint64_t file_writer_refused(struct file_writer *w)
{
	uint64_t refused;

	pthread_mutex_lock(&w->lock);
	refused = w->refused;
	pthread_mutex_unlock(&w->lock);
	return refused;
}

uint64_t file_writer_bytes(struct file_writer *w)
{
	uint64_t bytes;

	pthread_mutex_lock(&w->lock);
	bytes = w->output.bytes;
	pthread_mutex_unlock(&w->lock);
	return bytes;
}

void file_writer_abandon(struct file_writer *w)
{
	if (!w)
		return;
	file_stream_free(w->own);
	output_close(&w->output);
	writer_free(w);
}

int file_writer_close(struct file_writer *w, const struct ub_stats *stats)
{
	const struct chunk_header end = { .type = CHUNK_END };
	int error = file_writer_flush(w, stats), end_error, close_error;

	file_stream_free(w->own);
	/* Small enough to find room even after a failure; it says how many records are missing. */
	end_error = packed_make(&w->packed, &end, NULL, NULL, 0);
	if (!end_error)
		end_error = output_append(&w->output, &w->packed, &w->stats, w->refused);
	close_error = output_close(&w->output);
	writer_free(w);
	if (error)
		return error;
	return end_error ? end_error : close_error;
}
