// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <string.h>

#include "file/load.h"

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
