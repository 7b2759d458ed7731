// SPDX-License-Identifier: BSD-3-Clause
/*
 * The writer of a capture, its streams, and the locks around their shared state. Finished chunks
 * are staged in memory, and written many at a time by whoever staged the last of them: where all
 * threads finish a chunk at once, none waits until the others have written theirs.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "file/codec.h"
#include "file/file.h"
#include "file/output.h"
#include "file/syncing.h"

typedef VEC(uint8_t) chunks;

struct file_writer {
	pthread_mutex_t io; /* of output and writing; taken before lock */
	pthread_mutex_t lock; /* of everything else but own */
	struct output output;
	struct syncing syncing;
	chunks staged; /* complete, not in the file yet */
	chunks writing; /* empty but during a write */
	uint64_t bytes; /* of the file */
	bool scarce; /* atomic */
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

#define WRITE_AT (128u << 10) /* bytes: larger writes cost no less for each */
#define STAGED_MOST (1u << 20) /* from here on whoever stages waits for the disk */
#define SIDE_MAX (8u << 20)
#define SIDES_CHUNK (1u << 20) /* side records are small and read at once: no need for more */

static void writer_free(struct file_writer *w)
{
	syncing_end(&w->syncing);
	vec_release(&w->streams);
	vec_release(&w->staged);
	vec_release(&w->writing);
	pthread_mutex_destroy(&w->io);
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
	w->syncing.socket = -1;
	pthread_mutex_init(&w->io, NULL);
	pthread_mutex_init(&w->lock, NULL);
	/* most of it is never touched */
	vec_reserve(&w->staged, 2 * STAGED_MOST);
	vec_reserve(&w->writing, 2 * STAGED_MOST);
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

bool file_writer_scarce(struct file_writer *w)
{
	return __atomic_load_n(&w->scarce, __ATOMIC_RELAXED);
}

void file_writer_hold_nothing(struct file_writer *w)
{
	w->output.holds_none = true;
}

void file_writer_sync(struct file_writer *w)
{
	syncing_start(&w->syncing, w->output.fd);
}

static void fail(struct file_writer *w, int error)
{
	if (error && !w->error)
		__atomic_store_n(&w->error, error, __ATOMIC_RELAXED);
}

/* Wire records in the chunks behind a place. */
static uint64_t records_from(const chunks *chunks, size_t at)
{
	struct chunk_header head;
	uint64_t records = 0;

	for (; at < chunks->len; at += chunk_size(&head)) {
		memcpy(&head, chunks->data + at, sizeof(head));
		records += chunk_has_records(&head) ? head.records : 0;
	}
	return records;
}

/* Stages a chunk of n wire records that was made, with the counters as they stand. */
static void stage(struct file_writer *w, struct packed *packed, uint32_t n)
{
	size_t size = packed_seal(packed, &w->stats, w->refused);

	vec_reserve(&w->staged, w->staged.len + size);
	memcpy(w->staged.data + w->staged.len, packed->start, size);
	w->staged.len += size;
	w->stored += n;
}

static void stage_sides(struct file_writer *w)
{
	const struct chunk_header head = { .type = CHUNK_SIDES, .records = w->sides_n };
	int error = w->error;

	if (w->sides_n && !error) {
		error = packed_make(&w->packed, &head, w->sides, &w->sides_size, 1);
		if (!error)
			stage(w, &w->packed, 0);
	}
	fail(w, error);
	w->sides_size = 0;
	w->sides_n = 0;
}

/* Writes the staged chunks; records of failed ones count as refused. The caller holds io and no
 * other lock. */
static void write_staged(struct file_writer *w)
{
	chunks *c = &w->writing, staged;
	uint64_t lost;
	size_t whole = 0;
	int error;

	pthread_mutex_lock(&w->lock);
	staged = w->staged;
	w->staged = *c;
	*c = staged;
	error = w->error;
	pthread_mutex_unlock(&w->lock);
	if (c->len && !error)
		error = output_put(&w->output, c->data, c->len, &whole);
	lost = records_from(c, whole);
	pthread_mutex_lock(&w->lock);
	fail(w, error);
	w->stored -= lost;
	w->refused += lost;
	w->bytes = w->output.bytes;
	__atomic_store_n(&w->scarce, w->output.scarce, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&w->lock);
	c->len = 0;
}

static void write_now(struct file_writer *w)
{
	pthread_mutex_lock(&w->io);
	write_staged(w);
	pthread_mutex_unlock(&w->io);
}

/* Writes, and asks for a sync of the file. The caller holds io and no other lock. */
static void sync_staged(struct file_writer *w)
{
	int error;

	write_staged(w);
	error = syncing_ask(&w->syncing, w->output.fd, w->output.path, w->output.bytes);
	pthread_mutex_lock(&w->lock);
	fail(w, error);
	pthread_mutex_unlock(&w->lock);
}

/* After so many bytes were staged. */
static void write_if_due(struct file_writer *w, size_t staged)
{
	if (staged >= STAGED_MOST) {
		write_now(w);
	} else if (staged >= WRITE_AT && !pthread_mutex_trylock(&w->io)) {
		write_staged(w);
		pthread_mutex_unlock(&w->io);
	}
}

static void stream_emptied(struct file_stream *s);

/*
 * Stages a chunk of n records, behind the side records that were made before. Counts the records as
 * stored or refused. made: what packed_make() returned.
 */
static int stage_records(struct file_writer *w, struct file_stream *stream, struct packed *packed,
			 int made, uint32_t n)
{
	size_t staged;
	int error;

	pthread_mutex_lock(&w->lock);
	stage_sides(w);
	fail(w, made);
	error = w->error;
	if (error)
		w->refused += n;
	else
		stage(w, packed, n);
	stream_emptied(stream);
	staged = w->staged.len;
	pthread_mutex_unlock(&w->lock);
	write_if_due(w, staged);
	return error;
}

/* Counts a record that came after a failure. */
static void writer_refuse(struct file_writer *w, uint32_t n)
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
	char *text =
		json_is_string(json_object_get(side, "t")) ? json_dumps(side, JSON_COMPACT) : NULL;
	size_t size = text ? strlen(text) : 0, staged;
	int error = !text ? -EINVAL : size >= SIDE_MAX ? -EMSGSIZE : 0;

	if (error) {
		free(text);
		return error;
	}
	pthread_mutex_lock(&w->lock);
	if (w->sides_size + size >= SIDES_CHUNK)
		stage_sides(w);
	error = w->error;
	if (!error) {
		memcpy(w->sides + w->sides_size, text, size);
		w->sides_size += size;
		w->sides[w->sides_size++] = '\n';
		w->sides_n++;
	}
	staged = w->staged.len;
	pthread_mutex_unlock(&w->lock);
	free(text);
	write_if_due(w, staged);
	return error;
}

int file_writer_flush(struct file_writer *w, const struct ub_stats *stats)
{
	pthread_mutex_lock(&w->lock);
	if (stats)
		w->stats = *stats;
	stage_sides(w);
	pthread_mutex_unlock(&w->lock);
	if (w->own)
		file_stream_end_chunk(w->own);
	pthread_mutex_lock(&w->io);
	sync_staged(w);
	pthread_mutex_unlock(&w->io);
	return file_writer_error(w);
}

uint64_t file_writer_records(struct file_writer *w)
{
	uint64_t records;

	pthread_mutex_lock(&w->lock);
	records = w->stored;
	for (size_t i = 0; i < w->streams.len; i++)
		records += file_stream_pending(w->streams.data[i]);
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
	bytes = w->bytes;
	pthread_mutex_unlock(&w->lock);
	return bytes;
}

static bool is_trimmed(const json_t *side)
{
	return !strcmp(json_string_value(json_object_get(side, "t")), "trimmed");
}

static int copy_kept(struct file_writer *to, struct file_reader *from, const struct file_kept *kept)
{
	json_t *mark = json_pack("{s:s}", "t", "trimmed");
	const struct ub_hdr *record;
	const json_t *side;
	size_t i;
	int error = file_writer_side(to, mark), more = 0;

	json_decref(mark);
	json_array_foreach(file_reader_sides(from), i, side)
	{
		if (!error && !is_trimmed(side) && kept->side(kept->arg, side))
			error = file_writer_side(to, side);
	}
	while (!error && (more = file_reader_next(from, &record)) > 0)
		if (kept->record(kept->arg, record))
			error = file_writer_record(to, record);
	return error ? error : more;
}

/* The caller holds io. */
static int trim(struct file_writer *w, const char *path, const struct file_kept *kept)
{
	struct file_writer *fresh;
	struct file_reader *old;
	const char *why;
	int error;

	unlink(path);
	error = file_writer_open(&fresh, path);
	if (error)
		return error;
	fresh->output.holds_none = w->output.holds_none;
	error = file_reader_open(&old, w->output.path, &why);
	if (error >= 0) {
		error = copy_kept(fresh, old, kept);
		file_reader_free(old);
	}
	if (!error)
		error = file_writer_flush(fresh, &w->stats);
	if (!error)
		error = output_replace(&w->output, &fresh->output);
	if (error)
		unlink(path);
	else
		w->bytes = w->output.bytes;
	file_writer_abandon(fresh);
	return error;
}

int file_writer_trim(struct file_writer *w, const struct file_kept *kept)
{
	int error = file_writer_flush(w, NULL);
	char *path;

	if (error)
		return error;
	if (asprintf(&path, "%s" FILE_TRIMMED, w->output.path) < 0)
		return -ENOMEM;
	pthread_mutex_lock(&w->io);
	write_staged(w);
	error = file_writer_error(w);
	if (!error)
		error = trim(w, path, kept);
	pthread_mutex_unlock(&w->io);
	free(path);
	return error;
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
	size_t whole;

	file_stream_free(w->own);
	/* Small enough to find room even after a failure; it says how many records are missing. */
	end_error = packed_make(&w->packed, &end, NULL, NULL, 0);
	if (!end_error)
		end_error = output_put(&w->output, w->packed.start,
				       packed_seal(&w->packed, &w->stats, w->refused), &whole);
	syncing_ask(&w->syncing, w->output.fd, w->output.path, w->output.bytes);
	close_error = output_close(&w->output);
	writer_free(w);
	if (error)
		return error;
	return end_error ? end_error : close_error;
}

_Static_assert(FILE_STREAM_RECORDS == ENCODER_RECORDS, "a chunk is one block");

struct file_stream {
	struct file_writer *writer;
	file_seen_fn fn;
	void *arg;
	const uint64_t *watched; /* words that decide which records fn gets */
	uint32_t most; /* records of a chunk */
	uint32_t n; /* written by the stream's thread alone, read by others: atomic */
	struct block_encoder *encoder;
	uint8_t *block;
	struct packed packed;
};

static const uint64_t watch_nothing[UB_KIND_MAX];
static const uint64_t watch_all[UB_KIND_MAX] = { [0 ... UB_KIND_MAX - 1] = UINT64_MAX };

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
	s->watched = fn ? watch_all : watch_nothing;
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

uint32_t file_stream_pending(const struct file_stream *s)
{
	return __atomic_load_n(&s->n, __ATOMIC_RELAXED);
}

static void stream_emptied(struct file_stream *s)
{
	__atomic_store_n(&s->n, 0, __ATOMIC_RELAXED);
}

int file_stream_end_chunk(struct file_stream *s)
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
	return stage_records(s->writer, s, &s->packed, made, s->n);
}

int file_stream_flush(struct file_stream *s)
{
	file_stream_end_chunk(s);
	write_now(s->writer);
	return file_writer_error(s->writer);
}

/* Makes room for n records; what the writer does not take any more is counted. */
static int make_room(struct file_stream *s, uint32_t n)
{
	int error;

	if (s->n + n > s->most)
		file_stream_end_chunk(s);
	error = file_writer_error(s->writer);
	if (error)
		writer_refuse(s->writer, n);
	return error;
}

void file_stream_spare(struct file_stream *s, const uint64_t *words)
{
	if (s->fn)
		s->watched = words ? words : watch_all;
}

/* Adds records, and shows the watched ones. What is no whole record ends them, and is counted. */
static int add_and_show(struct file_stream *s, const struct encoder_batch *batch)
{
	struct encoder_added added = encoder_add(s->encoder, batch, s->watched);

	for (uint32_t i = 0; i < added.shown; i++)
		s->fn(s->arg, added.news[i].record, batch->cpu, batch->cpu_seq + added.news[i].i);
	__atomic_store_n(&s->n, s->n + added.records, __ATOMIC_RELAXED);
	if (added.records == batch->n)
		return 0;
	writer_refuse(s->writer, batch->n - added.records);
	return -EBADMSG;
}

int file_stream_batch(struct file_stream *s, const struct ub_batch *batch, size_t size)
{
	int error;

	if (size < sizeof(*batch) || !batch->records || batch->records > s->most) {
		writer_refuse(s->writer,
			      size >= sizeof(*batch) && batch->records ? batch->records : 1);
		return -EBADMSG;
	}
	error = make_room(s, batch->records);
	return error ? error
		     : add_and_show(s, &(struct encoder_batch){ .records = batch + 1,
								.size = size - sizeof(*batch),
								.n = batch->records,
								.cpu = batch->cpu,
								.cpu_seq = batch->first_seq });
}

int file_stream_record(struct file_stream *s, const struct ub_hdr *record)
{
	int error;

	if (!ub_kind_size(record->kind))
		return -EINVAL;
	error = make_room(s, 1);
	return error ? error
		     : add_and_show(s, &(struct encoder_batch){ .records = record,
								.size = ub_kind_size(record->kind),
								.n = 1,
								.cpu = record->cpu,
								.cpu_seq = record->cpu_seq });
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
