/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads one chunk's payload: checksum, decompression. */
#ifndef UCXBPF_FILE_LOAD_H
#define UCXBPF_FILE_LOAD_H

#include <zstd.h>

#include "base/vec.h"
#include "file/scan.h"

struct loader {
	int fd;
	ZSTD_DCtx *zstd;
	VEC(uint8_t) stored;
	VEC(uint8_t) raw;
};

/* Borrows fd. -ENOMEM. */
int loader_init(struct loader *loader, int fd);
void loader_release(struct loader *loader);

/* Whether the payload is what was stored: 0, -EBADMSG or -errno of pread(2). */
int loader_check(struct loader *loader, const struct chunk_ref *chunk);

/*
 * Leaves the payload, head.raw_size bytes, in loader->raw until the next call. -EBADMSG: damaged;
 * else -errno of pread(2).
 */
int loader_read(struct loader *loader, const struct chunk_ref *chunk);

#endif
