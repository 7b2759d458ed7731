// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "file/codec.h"
#include "file/file.h"
#include "file/output.h"

#define PENDING_BYTES (8u << 20)
#define SIDES_CHUNK (1u << 20) /* side records are small and read at once: no need for more */

struct file_writer {
	struct output output;
	int error; /* of the first chunk that could not be stored; nothing is taken after it */
	uint64_t stored, refused;
	struct ub_stats stats;

	uint8_t *records; /* PENDING_BYTES */
	size_t records_size;
	uint32_t records_n;
	uint64_t min_ts, max_ts;

	char *sides; /* JSON objects, each with a line end */
	size_t sides_size;
	uint32_t sides_n;

	struct encoder *encoder;
	uint8_t *block;
};

static void writer_free(struct file_writer *w)
{
	free(w->records);
	free(w->sides);
	free(w->block);
	encoder_free(w->encoder);
	free(w);
}

/* Has all memory now, so that a full machine cannot end a capture. */
static int writer_alloc(struct file_writer *w, size_t block)
{
	w->records = malloc(PENDING_BYTES);
	w->sides = malloc(PENDING_BYTES);
	w->block = malloc(block);
	w->encoder = encoder_new();
	return w->records && w->sides && w->block && w->encoder ? 0 : -ENOMEM;
}

int file_writer_open(struct file_writer **writer, const char *path)
{
	const size_t block = encoder_bound(CHUNK_MAX_RECORDS, PENDING_BYTES);
	struct file_writer *w = calloc(1, sizeof(*w));
	int error;

	*writer = NULL;
	if (!w)
		return -ENOMEM;
	error = writer_alloc(w, block);
	if (!error)
		error = output_open(&w->output, path, block);
	if (error) {
		writer_free(w);
		return error;
	}
	*writer = w;
	return 0;
}

static int flush_sides(struct file_writer *w)
{
	const struct chunk_header head = {
		.type = CHUNK_SIDES,
		.records = w->sides_n,
		.refused = w->refused,
	};

	if (w->sides_n && !w->error)
		w->error = output_chunk(&w->output, &head, &w->stats, w->sides, w->sides_size);
	w->sides_size = 0;
	w->sides_n = 0;
	return w->error;
}

static int write_records(struct file_writer *w)
{
	const struct chunk_header head = {
		.type = CHUNK_RECORDS,
		.records = w->records_n,
		.refused = w->refused,
		.min_ts = w->min_ts,
		.max_ts = w->max_ts,
	};
	size_t size = encoder_run(w->encoder, w->records, w->records_n, w->block);

	return output_chunk(&w->output, &head, &w->stats, w->block, size);
}

static int flush_records(struct file_writer *w)
{
	if (w->records_n && !w->error)
		w->error = write_records(w);
	*(w->error ? &w->refused : &w->stored) += w->records_n;
	w->records_size = 0;
	w->records_n = 0;
	return w->error;
}

int file_writer_record(struct file_writer *w, const struct ub_hdr *record)
{
	size_t size = ub_kind_size(record->kind);

	if (!size)
		return -EINVAL;
	if (w->records_n == CHUNK_MAX_RECORDS || w->records_size + size > PENDING_BYTES)
		file_writer_flush(w, NULL);
	if (w->error) {
		w->refused++;
		return w->error;
	}
	memcpy(w->records + w->records_size, record, size);
	w->records_size += size;
	if (!w->records_n || record->ts < w->min_ts)
		w->min_ts = record->ts;
	if (!w->records_n || record->ts > w->max_ts)
		w->max_ts = record->ts;
	w->records_n++;
	return 0;
}

int file_writer_side(struct file_writer *w, const json_t *side)
{
	const size_t flags = JSON_COMPACT;
	size_t size = json_dumpb(side, NULL, 0, flags);

	if (!size || !json_is_string(json_object_get(side, "t")))
		return -EINVAL;
	if (size >= PENDING_BYTES)
		return -EMSGSIZE;
	if (w->sides_size + size >= SIDES_CHUNK)
		flush_sides(w);
	if (w->error)
		return w->error;
	json_dumpb(side, w->sides + w->sides_size, size, flags);
	w->sides_size += size;
	w->sides[w->sides_size++] = '\n';
	w->sides_n++;
	return 0;
}

int file_writer_flush(struct file_writer *w, const struct ub_stats *stats)
{
	if (stats)
		w->stats = *stats;
	flush_sides(w);
	return flush_records(w);
}

uint64_t file_writer_records(const struct file_writer *w)
{
	return w->stored + w->records_n;
}

uint64_t file_writer_refused(const struct file_writer *w)
{
	return w->refused;
}

uint64_t file_writer_bytes(const struct file_writer *w)
{
	return w->output.bytes;
}

void file_writer_abandon(struct file_writer *w)
{
	if (!w)
		return;
	output_close(&w->output);
	writer_free(w);
}

int file_writer_close(struct file_writer *w, const struct ub_stats *stats)
{
	int error = file_writer_flush(w, stats);
	/* Small enough to find room even after a failure; it says how many records are missing. */
	const struct chunk_header end = { .type = CHUNK_END, .refused = w->refused };
	int end_error = output_chunk(&w->output, &end, &w->stats, NULL, 0);
	int close_error = output_close(&w->output);

	writer_free(w);
	if (error)
		return error;
	return end_error ? end_error : close_error;
}
