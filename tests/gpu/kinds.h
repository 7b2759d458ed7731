/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kinds of memory that a CUDA program can have, as a table: how each is made and ended, and
 * what a report should call it. All calls are of the CUDA runtime, but for mapped memory, which
 * only the driver library has.
 */
#ifndef UCXBPF_GPU_KINDS_H
#define UCXBPF_GPU_KINDS_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

#define PIECES 4 /* handles below one range of the kind vmm_pieces */

struct buffer {
	const struct kind *kind;
	int device; /* as this process numbers it */
	char *at;
	size_t size;
	/* of some kinds */
	size_t reserved;
	int pieces;
	CUmemGenericAllocationHandle handle[PIECES];
};

struct kind {
	const char *name;
	const char *memory; /* "host", "pinned", "managed", "gpu": the last has a device as well */
	void (*make)(struct buffer *buffer);
	void (*end)(struct buffer *buffer);
};

/* Ends the program with what CUDA says is wrong. */
void cuda_expect(cudaError_t status, const char *what, const char *file, int line);
#define CUDA(call) cuda_expect(call, #call, __FILE__, __LINE__)

/* NULL: there is no such kind */
const struct kind *kind_of(const char *name);

/* At least size bytes of it, on device where it is a GPU's; device is the current one. */
void buffer_make(struct buffer *buffer, const struct kind *kind, size_t size, int device);
void buffer_end(struct buffer *buffer);

/* Every byte of the first size gets this value, and is in place at the return. */
void buffer_fill(const struct buffer *buffer, size_t size, int value);
/* Whether first, middle and last byte of them have it. */
bool buffer_is(const struct buffer *buffer, size_t size, int value);

#endif
