// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/ucx_memory.h"

#include <errno.h>
#include <string.h>

#include "base/search.h"
#include "observe/process/maps.h"
#include "observe/process/record.h"
#include "observe/process/ucx_memory_private.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* Where the libucs of a process is. */
struct search {
	pid_t pid;
	ucx_files *files;
	struct ucx_place place;
};

static bool is_libucs(const struct mapping *mapping)
{
	const char *name = strrchr(mapping->path, '/');

	return mapping->executable && mapping->ino && name && !strncmp(name, "/libucs.so", 10);
}

static const struct ucx_file *file_of(struct search *search, const struct mapping *mapping,
				      const struct elf *elf)
{
	struct ucx_file *file;

	for (size_t i = 0; i < search->files->len; i++) {
		file = &search->files->data[i];
		if (file->dev == mapping->dev && file->ino == mapping->ino)
			return file;
	}
	file = vec_add(search->files);
	*file = (struct ucx_file){ .dev = mapping->dev, .ino = mapping->ino };
	elf_object(elf, "ucs_memtype_cache_global_instance", &file->cache, NULL);
	ucx_devices_find(elf, &file->devices);
	return file;
}

static int look(void *arg, const struct mapping *mapping)
{
	struct search *search = arg;
	const struct ucx_file *file;
	char path[4096];
	struct elf *elf;
	uint64_t bias;

	if (!is_libucs(mapping) || mapping_open_path(search->pid, mapping, path, sizeof(path)) ||
	    elf_load(&elf, path))
		return 0;
	file = file_of(search, mapping, elf);
	if (!elf_load_bias(elf, mapping->start, mapping->offset, &bias)) {
		search->place.cache = file->cache ? file->cache + bias : 0;
		search->place.devices = file->devices ? file->devices + bias : 0;
		search->place.found = true;
	}
	elf_free(elf);
	return search->place.found;
}

int ucx_memory_read(struct ucx_memory *memory, ucx_files *files, pid_t pid)
{
	struct search search = { .pid = pid, .files = files, .place.pid = pid };
	int err = process_each_mapping(pid, look, &search);

	memory->devices.len = 0;
	memory->regions.len = 0;
	memory->cached = false;
	memory->reason = NULL;
	if (err < 0)
		return err;
	if (!search.place.found)
		return -ENOENT;
	ucx_devices_read(memory, &search.place);
	ucx_regions_read(memory, &search.place);
	return 0;
}

void ucx_memory_release(struct ucx_memory *memory)
{
	vec_release(&memory->devices);
	vec_release(&memory->regions);
}

const struct ucx_region *ucx_memory_find(const struct ucx_memory *memory, uint64_t address)
{
	size_t i = search_count(memory->regions.len, at, memory->regions.data[at].end <= address);

	if (i < memory->regions.len && memory->regions.data[i].start <= address)
		return &memory->regions.data[i];
	return NULL;
}

static json_t *region_json(const struct ucx_region *region)
{
	static const char *const types[] = {
		[UCX_HOST] = "host",
		[UCX_CUDA] = "cuda",
		[UCX_CUDA_MANAGED] = "cuda-managed",
		[UCX_ROCM] = "rocm",
		[UCX_ROCM_MANAGED] = "rocm-managed",
	};

	return json_pack("[o, o, s, i]", record_address(region->start), record_address(region->end),
			 region->type < COUNT(types) ? types[region->type] : "unknown",
			 region->device == UCX_NO_DEVICE ? -1 : (int)region->device);
}

json_t *ucx_memory_json(const struct ucx_memory *memory)
{
	json_t *devices = json_array(), *regions = json_array(), *ucx;

	for (size_t i = 0; i < memory->devices.len; i++)
		json_array_append_new(devices, json_pack("[s, s]", memory->devices.data[i].pci,
							 memory->devices.data[i].name));
	for (size_t i = 0; i < memory->regions.len; i++)
		json_array_append_new(regions, region_json(&memory->regions.data[i]));
	ucx = json_pack("{s:o, s:b}", "devices", devices, "cached", memory->cached);
	json_object_set_new(ucx, "regions", regions);
	record_text(ucx, "reason", memory->reason);
	return ucx;
}
