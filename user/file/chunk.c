// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "file/chunk.h"

/* The checksum of a header of at most CHUNK_MAX_HEADER bytes, its own checksum counting as 0. */
static uint64_t header_checksum(const void *data, size_t size)
{
	uint8_t copy[CHUNK_MAX_HEADER];

	memcpy(copy, data, size);
	memset(copy + offsetof(struct chunk_header, header_sum), 0, sizeof(uint64_t));
	return XXH64(copy, size, 0);
}

uint64_t chunk_payload_sum(const void *payload, size_t size)
{
	return XXH64(payload, size, 0);
}

static uint64_t all_taken, all_beyond; /* of all files that are open */

static uint64_t beyond(const struct chunk_memory *memory)
{
	uint64_t own = READ_RATIO * memory->stored;

	return memory->taken > own ? memory->taken - own : 0;
}

static void change(struct chunk_memory *memory, uint64_t taken, uint64_t stored)
{
	all_beyond -= beyond(memory);
	all_taken += taken - memory->taken;
	memory->taken = taken;
	memory->stored = stored;
	all_beyond += beyond(memory);
}

bool chunk_memory_take(struct chunk_memory *memory, uint64_t size, uint64_t stored)
{
	const struct chunk_memory before = *memory;

	if (size > READ_MOST - memory->taken || size > READ_ALL - all_taken)
		return false;
	change(memory, memory->taken + size, memory->stored + stored);
	if (all_beyond <= READ_BEYOND)
		return true;
	change(memory, before.taken, before.stored);
	return false;
}

void chunk_memory_return(struct chunk_memory *memory, uint64_t size, uint64_t stored)
{
	change(memory, memory->taken - size, memory->stored - stored);
}

void chunk_seal(struct chunk_start *start)
{
	start->head.header_sum = header_checksum(start, sizeof(*start));
}

/* Whether size bytes at data start with a whole, undamaged and permissible chunk header. */
static bool chunk_header_valid(const void *data, size_t size)
{
	struct chunk_header head;

	if (size < sizeof(head))
		return false;
	memcpy(&head, data, sizeof(head));
	if (head.magic != CHUNK_MAGIC || head.header_size < sizeof(head) ||
	    head.header_size > CHUNK_MAX_HEADER || head.header_size > size)
		return false;
	if (head.stored_size > CHUNK_MAX_STORED || head.raw_size > CHUNK_MAX_RAW)
		return false;
	if (chunk_has_records(&head) && head.records > CHUNK_MAX_RECORDS)
		return false;
	return head.header_sum == header_checksum(data, head.header_size);
}

/* Whether the checksum of the stored_size bytes behind a valid header holds. */
static bool chunk_payload_valid(const struct chunk_header *head, const void *payload)
{
	return head->payload_sum == chunk_payload_sum(payload, head->stored_size);
}

#define WINDOW 65536

long read_at(int fd, void *data, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, (uint8_t *)data + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (long)done;
}

/* Whether size bytes are the beginning of a chunk whose header or payload the file's end cut off.
 */
static bool is_torn(const void *data, size_t size)
{
	const uint64_t magic = CHUNK_MAGIC;
	struct chunk_header head;

	if (memcmp(data, &magic, size < sizeof(magic) ? size : sizeof(magic)))
		return false;
	if (size < sizeof(head))
		return true;
	memcpy(&head, data, sizeof(head));
	return head.header_size > size ? head.header_size <= CHUNK_MAX_HEADER
				       : chunk_header_valid(data, size);
}

/* Reads the header at offset; 1 if a whole chunk is there, 0 if not, or -errno. */
static int chunk_at(int fd, uint64_t size, uint64_t offset, struct chunk_start *start, bool *torn)
{
	uint8_t data[CHUNK_MAX_HEADER];
	long n = read_at(fd, data, sizeof(data), offset);

	if (n < 0)
		return (int)n;
	*torn = false;
	memset(start, 0, sizeof(*start));
	if (chunk_header_valid(data, (size_t)n)) {
		memcpy(&start->head, data, sizeof(start->head));
		if (chunk_size(&start->head) <= size - offset) {
			size_t known = start->head.header_size;

			memcpy(start, data, known < sizeof(*start) ? known : sizeof(*start));
			return 1;
		}
	}
	*torn = is_torn(data, (size_t)n);
	return 0;
}

/* Finds the next place from offset on where a chunk's magic stands, or size. */
static int next_magic(int fd, uint64_t size, uint64_t *offset)
{
	const uint64_t magic = CHUNK_MAGIC;
	uint8_t window[WINDOW];

	while (*offset + sizeof(magic) <= size) {
		long n = read_at(fd, window, sizeof(window), *offset);
		const uint8_t *hit;

		if (n < (long)sizeof(magic))
			return n < 0 ? (int)n : 0;
		hit = memmem(window, (size_t)n, &magic, sizeof(magic));
		if (hit) {
			*offset += (uint64_t)(hit - window);
			return 0;
		}
		/* The magic may lie across the border of two windows. */
		*offset += (uint64_t)n - (sizeof(magic) - 1);
	}
	*offset = size;
	return 0;
}

static void add_chunk(struct chunk_scan *scan, uint64_t offset, const struct chunk_start *start)
{
	vec_push(&scan->chunks,
		 ((struct chunk_ref){ offset + start->head.header_size, start->head }));
	scan->stats = start->stats;
	scan->refused = start->head.refused;
	scan->ended = start->head.type == CHUNK_END;
}

int scan_file(struct chunk_scan *scan, int fd, uint64_t size)
{
	uint64_t offset = sizeof(struct file_header), good = offset;
	struct chunk_start start;
	bool torn = false;

	memset(scan, 0, sizeof(*scan));
	while (offset < size) {
		int found = chunk_at(fd, size, offset, &start, &torn);

		if (found < 0)
			return found;
		if (found) {
			scan->skipped += offset - good;
			add_chunk(scan, offset, &start);
			offset += chunk_size(&start.head);
			good = offset;
			scan->torn = false;
			continue;
		}
		if (offset == good)
			scan->torn = torn;
		offset++;
		found = next_magic(fd, size, &offset);
		if (found < 0)
			return found;
	}
	if (good < size && !scan->torn)
		scan->skipped += size - good;
	return 0;
}

void scan_release(struct chunk_scan *scan)
{
	vec_release(&scan->chunks);
}

int loader_init(struct loader *loader, int fd)
{
	memset(loader, 0, sizeof(*loader));
	loader->fd = fd;
	loader->zstd = ZSTD_createDCtx();
	return loader->zstd ? 0 : -ENOMEM;
}

void loader_release(struct loader *loader)
{
	ZSTD_freeDCtx(loader->zstd);
	vec_release(&loader->stored);
	vec_release(&loader->raw);
}

int loader_check(struct loader *loader, const struct chunk_ref *chunk)
{
	const struct chunk_header *head = &chunk->head;
	long n;

	vec_reserve(&loader->stored, head->stored_size);
	n = read_at(loader->fd, loader->stored.data, head->stored_size, chunk->offset);
	if (n < 0)
		return (int)n;
	return n == (long)head->stored_size && chunk_payload_valid(head, loader->stored.data)
		       ? 0
		       : -EBADMSG;
}

int loader_read(struct loader *loader, const struct chunk_ref *chunk)
{
	const struct chunk_header *head = &chunk->head;
	int error = loader_check(loader, chunk);
	size_t size;

	if (error)
		return error;
	vec_reserve(&loader->raw, head->raw_size);
	size = ZSTD_decompressDCtx(loader->zstd, loader->raw.data, head->raw_size,
				   loader->stored.data, head->stored_size);
	return size == head->raw_size ? 0 : -EBADMSG;
}
