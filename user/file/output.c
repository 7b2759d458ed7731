// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define ZSTD_STATIC_LINKING_ONLY /* ZSTD_c_literalCompressionMode */
#include "base/log.h"
#include "base/newfile.h"
#include "file/file.h"
#include "file/output.h"

/* Higher levels take longer for a few percent less: columns leave them little to find. */
#define ZSTD_LEVEL 1
/* Repetitions in columns are long and near: a small table finds as many, and stays in caches. */
#define RECORDS_HASH_LOG 10
#define RECORDS_MIN_MATCH 7
#define PARTS_EXTRA 4096 /* frames of several parts are larger than one */

/* *done: bytes written, also on error. */
static int write_all(int fd, const void *data, size_t size, size_t *done)
{
	const uint8_t *at = data;

	*done = 0;
	while (size) {
		ssize_t n = write(fd, at, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		at += n;
		*done += (size_t)n;
		size -= (size_t)n;
	}
	return 0;
}

/* Cuts off what does not belong to a whole chunk, and space that is held. */
static void cut_back(const struct output *o)
{
	/* Where this fails too, a reader sees a torn last chunk and stops before it. */
	if (!ftruncate(o->fd, (off_t)o->bytes))
		lseek(o->fd, (off_t)o->bytes, SEEK_SET);
}

int packed_init(struct packed *packed, size_t max_raw, bool records)
{
	packed->room = ZSTD_compressBound(max_raw) + PARTS_EXTRA;
	packed->start = malloc(sizeof(*packed->start) + packed->room);
	packed->zstd = ZSTD_createCCtx();
	packed->noise = ZSTD_createCCtx();
	if (!packed->start || !packed->zstd || !packed->noise)
		return -ENOMEM;
	ZSTD_CCtx_setParameter(packed->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	if (records) {
		ZSTD_CCtx_setParameter(packed->zstd, ZSTD_c_hashLog, RECORDS_HASH_LOG);
		ZSTD_CCtx_setParameter(packed->zstd, ZSTD_c_minMatch, RECORDS_MIN_MATCH);
		/* a Huffman code takes half of the time, and saves 3 % of a capture */
		ZSTD_CCtx_setParameter(packed->zstd, ZSTD_c_literalCompressionMode,
				       ZSTD_ps_disable);
	}
	ZSTD_CCtx_setParameter(packed->noise, ZSTD_c_compressionLevel, ZSTD_minCLevel());
	ZSTD_CCtx_setParameter(packed->noise, ZSTD_c_hashLog, ZSTD_HASHLOG_MIN);
	return 0;
}

void packed_release(struct packed *packed)
{
	free(packed->start);
	ZSTD_freeCCtx(packed->zstd);
	ZSTD_freeCCtx(packed->noise);
}

/* The first part is stored as it is: a Huffman code saves no more than a tenth of it. */
static ZSTD_CCtx *context_for(struct packed *packed, unsigned int part, unsigned int n)
{
	if (part + 1 == n)
		return packed->zstd;
	ZSTD_CCtx_setParameter(packed->noise, ZSTD_c_literalCompressionMode,
			       part ? ZSTD_ps_enable : ZSTD_ps_disable);
	return packed->noise;
}

int packed_make(struct packed *packed, const struct chunk_header *head, const void *raw,
		const size_t *parts, unsigned int n)
{
	struct chunk_start *start = packed->start;
	uint8_t *out = (uint8_t *)(start + 1);
	size_t stored = 0, done = 0;

	for (unsigned int i = 0; i < n; i++) {
		size_t size = ZSTD_compress2(context_for(packed, i, n), out + stored,
					     packed->room - stored, (const uint8_t *)raw + done,
					     parts[i]);

		if (ZSTD_isError(size))
			return -ENOMEM;
		stored += size;
		done += parts[i];
	}
	start->head = *head;
	start->head.magic = CHUNK_MAGIC;
	start->head.header_size = sizeof(*start);
	start->head.stored_size = (uint32_t)stored;
	start->head.raw_size = (uint32_t)done;
	start->head.payload_sum = chunk_payload_sum(out, stored);
	return 0;
}

size_t packed_seal(struct packed *packed, const struct ub_stats *stats, uint64_t refused)
{
	struct chunk_start *start = packed->start;

	start->head.refused = refused;
	start->stats = *stats;
	chunk_seal(start);
	return sizeof(*start) + start->head.stored_size;
}

/* A file server may give files of root to nobody. */
static bool is_ours_here(const char *path, const struct stat *old)
{
	struct stat made;
	char *part;
	int fd = newfile_open(path, NEWFILE_PRIVATE, &part);
	bool ours = fd >= 0 && !fstat(fd, &made) && made.st_uid == old->st_uid;

	if (fd >= 0) {
		unlink(part);
		close(fd);
	}
	free(part);
	return ours;
}

static bool is_foreign(const char *path, const struct stat *old)
{
	return newfile_foreign(old) && !is_ours_here(path, old);
}

/* 0, -EEXIST: it is something else; -errno. */
static int is_capture(int fd)
{
	char magic[FILE_MAGIC_SIZE];
	ssize_t got = pread(fd, magic, sizeof(magic), 0);

	if (got < 0)
		return -errno;
	return got == sizeof(magic) && !memcmp(magic, FILE_MAGIC, sizeof(magic)) ? 0 : -EEXIST;
}

static int lock(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK ? -EWOULDBLOCK : 0;
}

/* PATH.old, to be freed; NULL: no memory. */
static char *kept_name(const char *path)
{
	char *kept;

	return asprintf(&kept, "%s" FILE_KEPT, path) < 0 ? NULL : kept;
}

/* Whether this may be replaced: a capture of ours that nobody writes. */
static bool gives_way(int fd, const char *path)
{
	struct stat file;

	return !fstat(fd, &file) && !is_foreign(path, &file) && !is_capture(fd) && !lock(fd);
}

/* Whether a capture that is there may get its other name. */
static int check_kept(const char *path)
{
	char *kept = kept_name(path);
	int fd, err;

	if (!kept)
		return -ENOMEM;
	fd = open(kept, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0)
		err = gives_way(fd, kept) ? 0 : -ENOTEMPTY;
	else
		err = errno == ENOENT ? 0 : -ENOTEMPTY;
	if (fd >= 0)
		close(fd);
	free(kept);
	return err;
}

/*
 * Only a capture and an empty file give way to a new one, and only where nobody else can have put
 * them.
 */
static int check_old(const struct output *o, const char *path, const struct stat *old)
{
	int err;

	if (S_ISCHR(old->st_mode))
		return 0;
	if (!S_ISREG(old->st_mode))
		return -ESPIPE;
	if (old->st_nlink > 1)
		return -EMLINK;
	if (is_foreign(path, old))
		return -EUSERS;
	if (!old->st_size)
		return 0;
	err = is_capture(o->fd);
	return err ? err : check_kept(path);
}

static int open_old(struct output *o, const char *path)
{
	struct stat old;
	int error;

	o->fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (o->fd < 0 || fstat(o->fd, &old))
		return -errno;
	error = check_old(o, path, &old);
	if (!error)
		error = lock(o->fd);
	o->created = !error && S_ISREG(old.st_mode) && !old.st_size;
	o->keeps = !error && S_ISREG(old.st_mode) && old.st_size;
	return error;
}

int output_open(struct output *o, const char *path)
{
	int error;

	memset(o, 0, sizeof(*o));
	/* a new file is ours, whatever owner the file system gives it */
	o->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	o->created = o->fd >= 0;
	if (o->created)
		error = lock(o->fd);
	else
		error = errno == EEXIST ? open_old(o, path) : -errno;
	if (!error && !(o->path = strdup(path)))
		error = -ENOMEM;
	if (error && o->fd >= 0)
		output_close(o);
	return error;
}

#define HOLD_STEP (4u << 20) /* a call for each so many bytes */

static int hold_to(struct output *o, uint64_t end)
{
	o->tried = true;
	if (fallocate(o->fd, FALLOC_FL_KEEP_SIZE, (off_t)o->bytes, (off_t)(end - o->bytes)))
		return -errno;
	o->held = end;
	return 0;
}

static void hold(struct output *o)
{
	uint64_t enough = o->bytes + o->reserve;
	int error;

	if (!o->reserve || o->scarce || o->held >= enough)
		return;
	error = hold_to(o, enough + HOLD_STEP);
	if (error && error != -EINTR)
		error = hold_to(o, enough);
	if (error == -EINTR)
		return;
	o->scarce = error == -ENOSPC || error == -EDQUOT;
	if (error && !o->scarce)
		o->reserve = 0;
}

/* Where nothing can be held, a full disk shows in a write that fails. */
static uint64_t reserve_of(const struct output *o)
{
	struct statvfs fs;
	uint64_t room;

	if (o->holds_none || fstatvfs(o->fd, &fs) || !fs.f_bavail)
		return 0;
	room = fs.f_bavail * fs.f_frsize / 4;
	return room < OUTPUT_RESERVE ? room : OUTPUT_RESERVE;
}

/* A capture shows what others ran: only its owner may read it, even if it replaces a public file.
 */
static void guard(const struct output *o)
{
	struct stat file;

	if (fstat(o->fd, &file) || !S_ISREG(file.st_mode))
		return;
	newfile_hand_over(o->fd, 0600);
}

/* The capture that is there gets its other name; the new one is a new file. */
static int keep_old(struct output *o)
{
	char *kept = kept_name(o->path);
	int error = !kept ? -ENOMEM : rename(o->path, kept) ? -errno : 0, fd;

	if (!error)
		log_warn("'%s' is a capture already, which is kept as '%s'", o->path, kept);
	free(kept);
	if (error)
		return error;
	fd = open(o->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	error = lock(fd);
	close(o->fd);
	o->fd = fd;
	return error;
}

static int start_file(struct output *o)
{
	struct file_header header = { .version = FILE_VERSION, .wire = UB_WIRE_VERSION };
	size_t done;
	int error;

	o->started = true;
	error = o->keeps ? keep_old(o) : 0;
	if (error)
		return error;
	guard(o);
	/* a pipe or a device has nothing to cut */
	if (ftruncate(o->fd, 0) && errno != EINVAL)
		return -errno;
	memcpy(header.magic, FILE_MAGIC, FILE_MAGIC_SIZE);
	error = write_all(o->fd, &header, sizeof(header), &done);
	if (error)
		cut_back(o);
	else
		o->bytes = sizeof(header);
	o->reserve = reserve_of(o);
	return error;
}

/* Bytes of the whole chunks among the first size bytes of some. */
static size_t whole_chunks(const uint8_t *chunks, size_t size)
{
	struct chunk_header head;
	size_t whole = 0;

	while (size - whole >= sizeof(head)) {
		memcpy(&head, chunks + whole, sizeof(head));
		if (chunk_size(&head) > size - whole)
			break;
		whole += chunk_size(&head);
	}
	return whole;
}

int output_put(struct output *o, const void *chunks, size_t size, size_t *whole)
{
	int error = o->started ? 0 : start_file(o);
	size_t done;

	*whole = 0;
	if (error)
		return error;
	error = write_all(o->fd, chunks, size, &done);
	*whole = error ? whole_chunks(chunks, done) : size;
	o->bytes += *whole;
	if (error)
		cut_back(o);
	else
		hold(o);
	return error;
}

int output_replace(struct output *o, struct output *with)
{
	const struct output old = *o;
	char *path = with->path;

	if (rename(path, o->path))
		return -errno;
	*o = *with;
	o->path = old.path;
	*with = old;
	with->path = path;
	with->tried = false; /* the old file has no name any more, and goes as it is */
	return 0;
}

int output_close(struct output *o)
{
	/* Network file systems report a full disk no earlier. */
	int error;

	if (o->created && !o->started && o->path)
		unlink(o->path);
	/* a part of what could not be held may be */
	if (o->tried)
		cut_back(o);
	/* the process that syncs the file may have it open for longer */
	flock(o->fd, LOCK_UN);
	error = close(o->fd) ? -errno : 0;

	free(o->path);
	return error;
}
