// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "file/codec.h"
#include "file/file.h"

/* Level 1 packs the columns within a few percent of level 3, in half the time: see docs/format.md.
 */
#define ZSTD_LEVEL 1
#define PENDING_BYTES (8u << 20)
#define SIDES_CHUNK (1u << 20) /* side records are small and read at once: no need for more */

struct file_writer {
	int fd;
	int error; /* of the first chunk that could not be stored; nothing is taken after it */
	uint64_t bytes; /* of complete chunks */
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
	struct chunk_start *chunk; /* header, and behind it chunk_room bytes of payload */
	size_t chunk_room;
	ZSTD_CCtx *zstd;
};

static void writer_free(struct file_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	free(w->records);
	free(w->sides);
	free(w->block);
	free(w->chunk);
	encoder_free(w->encoder);
	ZSTD_freeCCtx(w->zstd);
	free(w);
}

/* Has all memory now, so that a full machine cannot end a capture. */
static int writer_alloc(struct file_writer *w)
{
	size_t block = encoder_bound(CHUNK_MAX_RECORDS, PENDING_BYTES);

	w->chunk_room = ZSTD_compressBound(block);
	w->records = malloc(PENDING_BYTES);
	w->sides = malloc(PENDING_BYTES);
	w->block = malloc(block);
	w->chunk = malloc(sizeof(*w->chunk) + w->chunk_room);
	w->encoder = encoder_new();
	w->zstd = ZSTD_createCCtx();
	if (!w->records || !w->sides || !w->block || !w->chunk || !w->encoder || !w->zstd)
		return -ENOMEM;
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	return 0;
}

static int write_all(int fd, const void *data, size_t size)
{
	const uint8_t *at = data;

	while (size) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Writes size bytes as one piece, or cuts the file back to what it was. */
static int append(struct file_writer *w, const void *data, size_t size)
{
	int error = write_all(w->fd, data, size);

	if (!error) {
		w->bytes += size;
		return 0;
	}
	/* Where this fails too, a reader sees a torn last chunk and stops before it. */
	if (!ftruncate(w->fd, (off_t)w->bytes))
		lseek(w->fd, (off_t)w->bytes, SEEK_SET);
	return error;
}

static int write_chunk(struct file_writer *w, enum chunk_type type, uint32_t records,
		       const void *raw, size_t raw_size)
{
	struct chunk_start *start = w->chunk;
	size_t stored = 0;

	if (raw_size)
		stored = ZSTD_compress2(w->zstd, start + 1, w->chunk_room, raw, raw_size);
	if (ZSTD_isError(stored))
		return -ENOMEM;
	start->head = (struct chunk_header){
		.magic = CHUNK_MAGIC,
		.header_size = sizeof(*start),
		.type = type,
		.stored_size = (uint32_t)stored,
		.raw_size = (uint32_t)raw_size,
		.records = records,
		.refused = w->refused,
	};
	if (type == CHUNK_RECORDS) {
		start->head.min_ts = w->min_ts;
		start->head.max_ts = w->max_ts;
	}
	start->stats = w->stats;
	chunk_seal(start, start + 1);
	return append(w, start, sizeof(*start) + stored);
}

int file_writer_open(struct file_writer **writer, const char *path)
{
	struct file_header header = { .version = FILE_VERSION, .wire = UB_WIRE_VERSION };
	struct file_writer *w = calloc(1, sizeof(*w));
	int error;

	*writer = NULL;
	if (!w)
		return -ENOMEM;
	w->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	error = w->fd < 0 ? -errno : writer_alloc(w);
	memcpy(header.magic, FILE_MAGIC, FILE_MAGIC_SIZE);
	if (!error)
		error = append(w, &header, sizeof(header));
	if (error) {
		writer_free(w);
		return error;
	}
	*writer = w;
	return 0;
}

static int flush_sides(struct file_writer *w)
{
	int error = 0;

	if (w->sides_n && !w->error)
		error = write_chunk(w, CHUNK_SIDES, w->sides_n, w->sides, w->sides_size);
	if (error)
		w->error = error;
	w->sides_size = 0;
	w->sides_n = 0;
	return w->error;
}

static int flush_records(struct file_writer *w)
{
	size_t size;
	int error;

	if (!w->records_n)
		return w->error;
	if (!w->error) {
		size = encoder_run(w->encoder, w->records, w->records_n, w->block);
		error = write_chunk(w, CHUNK_RECORDS, w->records_n, w->block, size);
		if (error)
			w->error = error;
	}
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
	return w->bytes;
}

int file_writer_close(struct file_writer *w, const struct ub_stats *stats)
{
	int error = file_writer_flush(w, stats);
	/* Small enough to find room even after a failure; it says how many records are missing. */
	int end_error = write_chunk(w, CHUNK_END, 0, NULL, 0);

	if (!error)
		error = end_error;
	/* Network file systems report a full disk no earlier. */
	if (close(w->fd) && !error)
		error = -errno;
	w->fd = -1;
	writer_free(w);
	return error;
}
