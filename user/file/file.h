/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The capture file (docs/format.md): chunks of wire records and of side records, each complete and
 * checked by itself, so that whatever was written before a crash can be read.
 */
#ifndef UCXBPF_FILE_FILE_H
#define UCXBPF_FILE_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ucxbpf.h"

/* ---- writer ---- */

struct file_writer;

/*
 * -EWOULDBLOCK: another writer has the file open; -EEXIST: it holds something that is no capture;
 * -ENOTEMPTY: it is a capture, to be kept under a name that is no capture's, another user's, or
 * of one that is being written; -ELOOP, -EMLINK: it is a symbolic link, or one of several hard
 * links; -EUSERS: another user owns it; -ESPIPE: it is neither a file nor a character device;
 * -errno. A capture that was there stays until the first flush, and is PATH.old then.
 */
int file_writer_open(struct file_writer **writer, const char *path);

#define FILE_KEPT ".old" /* added to the name of a capture that a new one replaces */

/*
 * Adds one wire record of ub_kind_size() bytes. Reaches the disk with the next flush at the latest.
 * After a failure nothing more is taken: returns that failure again, and counts the record.
 */
int file_writer_record(struct file_writer *writer, const struct ub_hdr *record);

/*
 * Adds one side record, a JSON object with a string "t"; written before the records of this chunk.
 * -EINVAL: no such object; -EMSGSIZE: over 8 MiB.
 */
int file_writer_side(struct file_writer *writer, const json_t *side);

/*
 * Writes pending records as complete chunks with the loss counters as they stand (summed over
 * CPUs; NULL: as last given). -ENOSPC and the like: the file is cut back to its last complete
 * chunk, and stays usable. (The caller ignores SIGXFSZ, or a file size limit ends the program.)
 */
int file_writer_flush(struct file_writer *writer, const struct ub_stats *stats);

/*
 * The disk is nearly full: there is room for 16 MiB, or for a quarter of the space that was free at
 * the start where that is less. Stays so. False where the file system cannot hold space for a file.
 */
bool file_writer_scarce(struct file_writer *writer);

/* No space is held for the file, which is worth no more than what else needs the disk. */
void file_writer_hold_nothing(struct file_writer *writer);

/*
 * From now on a process of its own puts on the disk what a flush has written, where that is a disk
 * of this machine; an error of it is one of the next flush. To be called before the first flush,
 * while this process has one thread.
 */
void file_writer_sync(struct file_writer *writer);

/* The failure after which nothing more is taken, 0 = none so far. */
int file_writer_error(struct file_writer *writer);

/* Records taken, by streams as well, and bytes in complete chunks. */
uint64_t file_writer_records(struct file_writer *writer);
uint64_t file_writer_bytes(struct file_writer *writer);

/*
 * Records lost by a failure or refused after it, and those of malformed batches; also in the file,
 * if its end could be written.
 */
uint64_t file_writer_refused(struct file_writer *writer);

#define FILE_TRIMMED ".trimmed" /* added to the name of a file that is being trimmed */

/* Selects what stays of a file. */
struct file_kept {
	bool (*side)(void *arg, const json_t *side);
	bool (*record)(void *arg, const struct ub_hdr *record);
	void *arg;
};

/*
 * Writes pending records, then replaces the file by a copy of the kept ones. A reader that has it
 * open goes on with the old file. A side record "trimmed" tells readers that numbers of records are
 * missing on purpose. -errno: the file is not replaced, and has the pending records.
 */
int file_writer_trim(struct file_writer *writer, const struct file_kept *kept);

/* Frees without writing; before the first flush, the file is as it was. */
void file_writer_abandon(struct file_writer *writer);

/* Flushes, marks the file complete, frees. Also frees on error. All streams are gone before. */
int file_writer_close(struct file_writer *writer, const struct ub_stats *stats);

/* ---- streams: chunks of records by several threads ---- */

/*
 * A way into a file for one thread at a time. It makes chunks of its own: encoding and compressing
 * share nothing with other streams, and only a finished chunk takes the writer's lock. Readers put
 * the records of all chunks in order of time.
 *
 * The functions of the writer may be called by one other thread meanwhile.
 */
struct file_stream;

/*
 * Receives each record that a stream was given, and its CPU and number, which the record itself
 * lacks. The memory is valid during the call.
 */
typedef void (*file_seen_fn)(void *arg, const struct ub_hdr *record, uint16_t cpu,
			     uint32_t cpu_seq);

#define FILE_STREAM_RECORDS 8192

/*
 * most: records of a chunk, at most FILE_STREAM_RECORDS and at least a batch's. A stream reserves
 * up to 1 KiB of memory for each, and uses a tenth of it for those of a job. fn may be NULL.
 * -ENOMEM.
 */
int file_stream_open(struct file_stream **stream, struct file_writer *writer, uint32_t most,
		     file_seen_fn fn, void *arg);

/*
 * From now on fn is spared most records that look to it like one before: in which all words of
 * words[kind] are as in the last record, in this chunk, of the same thread, kind, site and layout.
 * It gets all others, and so the first one of a chunk. Bits 2 i and 2 i + 1 are payload word i;
 * UINT64_MAX: no record of the kind is spared; 0: all are. words: an array of UB_KIND_MAX, which
 * stays. NULL: fn gets every record, as at the beginning.
 */
void file_stream_spare(struct file_stream *stream, const uint64_t *words);

/*
 * Adds the records of a batch as the kernel made it: size bytes with its head. They get the batch's
 * CPU and numbers. -EBADMSG: malformed. Records before the first one that is not whole, or of no
 * known kind, are taken. The others count as refused: as many as the head states, one where there
 * is no head. Else as file_writer_record().
 */
int file_stream_batch(struct file_stream *stream, const struct ub_batch *batch, size_t size);

/* Records of the chunk being made; any thread. */
uint32_t file_stream_pending(const struct file_stream *stream);

/* Adds one record, as file_writer_record(). */
int file_stream_record(struct file_stream *stream, const struct ub_hdr *record);

/*
 * Ends the chunk: its records reach the file with others, with the next flush of the writer or of a
 * stream at the latest. As file_writer_record().
 */
int file_stream_end_chunk(struct file_stream *stream);

/* Writes pending records, of chunks that were ended as well. As file_writer_flush(). */
int file_stream_flush(struct file_stream *stream);

/* Frees and discards pending records. To be called before the writer is closed. */
void file_stream_free(struct file_stream *stream);

/* ---- reader ---- */

struct file_reader;

/*
 * Opens a capture and loads its side records. On failure *why is a sentence for the user
 * (static), e.g. "not a ucxbpf capture". -EBADMSG: not a capture or no complete chunk;
 * -EPROTONOSUPPORT: version newer than this program.
 */
int file_reader_open(struct file_reader **reader, const char *path, const char **why);

/* The same without its side records, which take most of the time: for reading the records again. */
int file_reader_again(struct file_reader **reader, const char *path, const char **why);

/* Whether a file begins as captures do, whole or not; false as well where it cannot be read. */
bool file_is_capture(const char *path);

/* All side records, a JSON array in file order; owned by the reader. */
const json_t *file_reader_sides(const struct file_reader *reader);

/* Loss counters of the last chunk. */
const struct ub_stats *file_reader_stats(const struct file_reader *reader);

/*
 * The next wire record of the file in order of ub_hdr.ts (exact over the whole file, by the times
 * in chunk headers). Returns 1 and *record, valid until the next call; 0 at the end; -errno.
 * Streams: holds only the chunks whose time spans overlap.
 */
int file_reader_next(struct file_reader *reader, const struct ub_hdr **record);

/*
 * Likewise, chunk by chunk, in the order in which the records of each lie there, which is mostly
 * that of their CPU's numbers. Only a record's header is valid, without its frame numbers; of
 * UB_LOSS the payload is, too. For one pass over a file that counts records and needs no order of
 * time: it is several times as fast. A reader is read in one of both ways, from its beginning to
 * its end.
 */
int file_reader_next_stored(struct file_reader *reader, const struct ub_hdr **record);

/*
 * False: the tracer was killed, the tail was cut off, records could not be written, or a part is
 * damaged; *why names the reason (static). Records whose checksum holds and that make no sense all
 * the same are known once they were read.
 */
bool file_reader_complete(const struct file_reader *reader, const char **why);

/* Whether it goes on to the end of its trace, whatever is missing before. */
bool file_reader_has_end(const struct file_reader *reader);

/* Side records of kinds that a later ucxbpf may know: they are not kept. */
uint64_t file_reader_unknown(const struct file_reader *reader);

/* Records that the tracer could not store: the disk was full, or a batch malformed. */
uint64_t file_reader_refused(const struct file_reader *reader);

/*
 * Bytes skipped because a chunk's checksum did not hold, no chunk begins there, a side record is
 * none, or the memory for what a chunk holds is out of proportion to the file.
 */
uint64_t file_reader_damaged(const struct file_reader *reader);

void file_reader_free(struct file_reader *reader);

#endif
