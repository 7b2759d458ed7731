// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/memory_map.h"

#include <string.h>

#include "base/search.h"
#include "observe/process/record.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* By the beginning of their paths, the first that fits: what is neither memory of the host. */
static const struct {
	const char *path;
	enum map_class class;
} known[] = {
	{ "/dev/nvidia-uvm-tools", MAP_OTHER },
	{ "/dev/nvidia-uvm", MAP_MANAGED },
	{ "/dev/nvidiactl", MAP_PINNED },
	{ "/dev/zero", MAP_HOST },
	{ "/dev/shm/", MAP_HOST },
	{ "/dev/", MAP_OTHER },
	{ "[v", MAP_OTHER }, /* vdso, vvar, vsyscall: the kernel's */
	{ "anon_inode:", MAP_OTHER },
};

enum map_class mapping_class(const struct mapping *mapping)
{
	bool accessible = mapping->readable || mapping->writable;

	for (size_t i = 0; i < COUNT(known); i++)
		if (!strncmp(mapping->path, known[i].path, strlen(known[i].path)))
			return known[i].class;
	if (accessible)
		return MAP_HOST;
	return *mapping->path || mapping->executable ? MAP_OTHER : MAP_RESERVED;
}

static int add(void *arg, const struct mapping *mapping)
{
	struct memory_map *map = arg;
	enum map_class class = mapping_class(mapping);
	struct map_range *last = map->ranges.len ? &map->ranges.data[map->ranges.len - 1] : NULL;

	if (last && last->end == mapping->start && last->class == class)
		last->end = mapping->end;
	else
		vec_push(&map->ranges, ((struct map_range){ mapping->start, mapping->end, class }));
	return 0;
}

int memory_map_read(struct memory_map *map, pid_t pid)
{
	map->ranges.len = 0;
	return process_each_mapping(pid, add, map);
}

void memory_map_release(struct memory_map *map)
{
	vec_release(&map->ranges);
}

enum map_class memory_map_find(const struct memory_map *map, uint64_t address)
{
	size_t i = search_count(map->ranges.len, at, map->ranges.data[at].end <= address);

	if (i < map->ranges.len && map->ranges.data[i].start <= address)
		return map->ranges.data[i].class;
	return MAP_NONE;
}

json_t *memory_map_json(const struct memory_map *map)
{
	static const char *const names[MAP_CLASSES] = {
		[MAP_HOST] = "host",         [MAP_MANAGED] = "managed", [MAP_PINNED] = "pinned",
		[MAP_RESERVED] = "reserved", [MAP_OTHER] = "other",
	};
	json_t *list = json_array();

	for (size_t i = 0; i < map->ranges.len; i++) {
		const struct map_range *range = &map->ranges.data[i];

		json_array_append_new(list,
				      json_pack("[o, o, s]", record_address(range->start),
						record_address(range->end), names[range->class]));
	}
	return list;
}
