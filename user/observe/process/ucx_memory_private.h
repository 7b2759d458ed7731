/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the ucx_*.c files that read UCX's memory; target/ only. */
#ifndef UCXBPF_TARGET_UCX_MEMORY_PRIVATE_H
#define UCXBPF_TARGET_UCX_MEMORY_PRIVATE_H

#include "observe/process/elf.h"
#include "observe/process/ucx_memory.h"

/* Addresses in one process, 0: not known. */
struct ucx_place {
	pid_t pid;
	bool found;
	uint64_t cache; /* of the pointer to the cache of memory types */
	uint64_t devices; /* of the number of system devices, right behind their table */
};

/* ---- ucx_devices.c ---- */
/* The number's link-time address, as ucs_topo_get_device_bus_id() compares with it; -ENOENT. */
int ucx_devices_find(const struct elf *elf, uint64_t *vaddr);
void ucx_devices_read(struct ucx_memory *memory, const struct ucx_place *place);

/* ---- ucx_regions.c ---- */
void ucx_regions_read(struct ucx_memory *memory, const struct ucx_place *place);

#endif
