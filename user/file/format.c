// SPDX-License-Identifier: BSD-3-Clause
#include <string.h>
#include <xxhash.h>

#include "file/format.h"

/* The checksum of a header of at most CHUNK_MAX_HEADER bytes, its own checksum counting as 0. */
static uint64_t header_checksum(const void *data, size_t size)
{
	uint8_t copy[CHUNK_MAX_HEADER];

	memcpy(copy, data, size);
	memset(copy + offsetof(struct chunk_header, header_sum), 0, sizeof(uint64_t));
	return XXH64(copy, size, 0);
}

void chunk_seal(struct chunk_start *start, const void *payload)
{
	start->head.payload_sum = XXH64(payload, start->head.stored_size, 0);
	start->head.header_sum = header_checksum(start, sizeof(*start));
}

bool chunk_header_valid(const void *data, size_t size)
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

bool chunk_payload_valid(const struct chunk_header *head, const void *payload)
{
	return head->payload_sum == XXH64(payload, head->stored_size, 0);
}
