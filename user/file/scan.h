/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the chunks of a file by their headers, also behind damaged parts. Reads no payload. */
#ifndef UCXBPF_FILE_SCAN_H
#define UCXBPF_FILE_SCAN_H

#include "base/vec.h"
#include "file/format.h"

struct chunk_ref {
	uint64_t offset; /* of the payload */
	struct chunk_header head;
};

struct scan {
	VEC(struct chunk_ref) chunks; /* whole ones, in file order */
	struct ub_stats stats; /* of the last one */
	uint64_t skipped; /* bytes that belong to no chunk, without a torn last one */
	uint64_t refused;
	bool torn; /* the last chunk is only partly there */
	bool ended; /* the writer closed the file */
};

/* Scans a file of size bytes behind its file header. Returns 0 or -errno of pread(2). */
int scan_file(struct scan *scan, int fd, uint64_t size);

void scan_release(struct scan *scan);

/* Reads up to size bytes at offset; returns how many there were, or -errno. */
long read_at(int fd, void *data, size_t size, uint64_t offset);

#endif
