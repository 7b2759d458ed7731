/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UCX's own knowledge of a process's GPUs and their memory, read from its memory while it runs: the
 * table of system devices (ucs_topo_global_ctx, src/ucs/sys/topo/base/topo.c) and the cache of
 * memory types (ucs_memtype_cache_global_instance, src/ucs/memory/memtype_cache.c). Both are the
 * same since UCX 1.13 but for the size of a device and of the cache's lock, which are found by
 * trial: all values read are checked, and inconsistent ones give a reason and no answer.
 */
#ifndef UCXBPF_PROCESS_UCX_MEMORY_H
#define UCXBPF_PROCESS_UCX_MEMORY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "observe/process/library.h"

struct ucx_device {
	char pci[16]; /* 0000:18:00.0 */
	char name[32]; /* "GPU0": CUDA's number of it in this process; else the address or a NIC */
};

/* UCX's own numbers, ucs_memory_type_t; those above differ by version. */
enum ucx_memory_type { UCX_HOST, UCX_CUDA, UCX_CUDA_MANAGED, UCX_ROCM, UCX_ROCM_MANAGED };
#define UCX_NO_DEVICE 255 /* UCS_SYS_DEVICE_ID_UNKNOWN */

struct ucx_region {
	uint64_t start, end; /* end: the first address behind */
	uint32_t type; /* values beyond the enum are unknown types */
	uint8_t device; /* position in devices; UCX_NO_DEVICE */
};

/* Where a libucs keeps it; remembered per file. */
struct ucx_file {
	const struct library *library;
	uint64_t cache, devices; /* link-time addresses: of the pointer, of the number; 0: none */
};

typedef VEC(struct ucx_file) ucx_files;

struct ucx_memory {
	VEC(struct ucx_device) devices; /* by UCX's number */
	VEC(struct ucx_region) regions; /* in order of address */
	bool cached; /* regions cover all of the process's memory that is not plain host memory */
	const char *reason; /* why devices or regions could not be read; static; NULL: they could */
};

/*
 * Replaces what memory held; a zeroed one is empty. Where a process has several copies of UCX, the
 * first one that has its cache answers, since all caches describe the same memory. files keeps
 * pointers into set. -ENOENT: no libucs. -ESRCH, -EACCES, and other errors of process_libraries().
 * deadline (deadline.h): of the caches; one that is not read by then has that reason.
 */
int ucx_memory_read(struct ucx_memory *memory, ucx_files *files, struct library_set *set, pid_t pid,
		    uint64_t deadline);
void ucx_memory_release(struct ucx_memory *memory);

/* The region around an address; NULL: none. */
const struct ucx_region *ucx_memory_find(const struct ucx_memory *memory, uint64_t address);

/* {devices: [[pci, name]..], regions: [[start, end, type, device]..], reason}: side records. */
json_t *ucx_memory_json(const struct ucx_memory *memory);

/* Addresses in one process, 0: not known. */
struct ucx_place {
	pid_t pid;
	uint64_t cache; /* of the pointer to the cache of memory types */
	uint64_t devices; /* of the number of system devices, right behind their table */
	uint64_t deadline; /* of the cache */
};

/* Fills regions, cached and reason; a part of ucx_memory_read(). */
void ucx_regions_read(struct ucx_memory *memory, const struct ucx_place *place);

#endif
