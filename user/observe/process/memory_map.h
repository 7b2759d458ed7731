/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What kinds of memory a process has mapped where, as far as its mappings tell: what is certainly
 * the host's, and where a GPU's memory may lie. Seen with NVIDIA's driver 580: memory of a GPU lies
 * where the driver has reserved addresses without a file and without any access; managed memory in
 * mappings of /dev/nvidia-uvm, host memory of cuMemCreate in such of /dev/nvidiactl, memory of
 * cuMemHostAlloc in shared ones of /dev/zero.
 */
#ifndef UCXBPF_TARGET_MEMORY_MAP_H
#define UCXBPF_TARGET_MEMORY_MAP_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "observe/process/maps.h"

enum map_class {
	MAP_NONE, /* not mapped */
	MAP_HOST, /* pinned or not, that cannot be seen */
	MAP_MANAGED,
	MAP_PINNED, /* the driver's own host memory */
	MAP_RESERVED, /* no access, no file: a GPU's memory, or nobody's */
	MAP_OTHER, /* who knows what: a device's registers */
	MAP_CLASSES
};

struct map_range {
	uint64_t start, end; /* end: the first address behind */
	enum map_class class; /* not MAP_NONE */
};

/* In order of address; neighbours differ in class. A zeroed one is empty. */
struct memory_map {
	VEC(struct map_range) ranges;
};

enum map_class mapping_class(const struct mapping *mapping);

/* Replaces what map held. -ESRCH, -EACCES as process_each_mapping(). */
int memory_map_read(struct memory_map *map, pid_t pid);
void memory_map_release(struct memory_map *map);

enum map_class memory_map_find(const struct memory_map *map, uint64_t address);

/* [[start, end, class]..], as in side records. */
json_t *memory_map_json(const struct memory_map *map);

#endif
