/* SPDX-License-Identifier: BSD-3-Clause */
/* Where memory is, and its name in all outputs: "host", "pinned", "managed", "gpu0", "gpu". */
#ifndef UCXBPF_BASE_MEMORY_NAME_H
#define UCXBPF_BASE_MEMORY_NAME_H

#include <stddef.h>

enum memory_kind {
	MEMORY_UNKNOWN,
	MEMORY_HOST, /* pageable, of a process without a GPU library */
	MEMORY_PINNED,
	MEMORY_MANAGED,
	MEMORY_GPU,
	MEMORY_KINDS
};

/* "host", "pinned", "managed", "gpu"; NULL: unknown. */
const char *memory_kind_name(enum memory_kind kind);

struct memory_name {
	enum memory_kind kind;
	int device; /* number of the GPU on its host; -1: none, or not known */
};

/* NULL and any other text: unknown. */
struct memory_name memory_name_read(const char *text);

#define MEMORY_NAME_MAX 16 /* bytes of a name with its terminator */

/* Writes a GPU's name. */
void memory_gpu_name(char name[MEMORY_NAME_MAX], int device);

#endif
