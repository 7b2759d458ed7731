// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/ucx_memory.h"

#include <Zydis/Zydis.h>
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/deadline.h"
#include "base/order.h"
#include "base/shape.h"
#include "base/vec.h"
#include "observe/process/bounds.h"
#include "observe/process/elf.h"
#include "observe/process/proc.h"
#include "observe/process/record.h"

#define CODE_MAX 256

/* Address read by the first RIP-relative load of 32 bits; 0: no such instruction. */
static uint64_t first_read(const uint8_t *code, size_t size, uint64_t vaddr)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	ZydisDecoder decoder;
	uint64_t target;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t at = 0; at < size; at += insn.length) {
		if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, code + at, size - at, &insn,
						       operands)))
			return 0;
		for (int i = 0; i < insn.operand_count_visible; i++)
			if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
			    operands[i].mem.type == ZYDIS_MEMOP_TYPE_MEM &&
			    operands[i].mem.base == ZYDIS_REGISTER_RIP && operands[i].size == 32 &&
			    ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&insn, &operands[i], vaddr + at,
								  &target)))
				return target;
	}
	return 0;
}

/* The number's link-time address, as ucs_topo_get_device_bus_id() compares with it. */
static long find_devices(struct elf *elf, const void *arguments, size_t arguments_size,
			 reader_answer *answer)
{
	uint8_t code[CODE_MAX];
	uint64_t offset, size, function, vaddr = 0;
	long got;

	(void)arguments;
	(void)arguments_size;
	if (elf_machine(elf) != EM_X86_64 ||
	    elf_function(elf, "ucs_topo_get_device_bus_id", &offset, &size) ||
	    elf_offset_to_vaddr(elf, offset, &function))
		return -ENOENT;
	got = elf_read(elf, offset, code, size && size < sizeof(code) ? size : sizeof(code));
	if (got > 0)
		vaddr = first_read(code, (size_t)got, function);
	answer_add(answer, &vaddr, sizeof(vaddr));
	return vaddr ? 0 : -ENOENT;
}

/* ucs_topo_sys_device_info_t: { ucs_sys_bus_id_t bus_id; char *name; ... } */
#define MAX_DEVICES 256 /* UCS_TOPO_MAX_SYS_DEVICES */
#define NAME 8
#define STRIDE_MIN 16 /* UCX 1.13; 24 from 1.14, more from 1.19 on */
#define STRIDE_MAX 64
#define STRIDE_STEP 8

/* ucs_sys_bus_id_t */
struct bus_id {
	uint16_t domain;
	uint8_t bus, slot, function;
};

static bool read_name(pid_t pid, uint64_t address, char *name, size_t size)
{
	long got = proc_read_memory(pid, address, name, size - 1);
	size_t length;

	if (got <= 0)
		return false;
	name[got] = '\0';
	length = strlen(name);
	for (size_t i = 0; i < length; i++)
		if (name[i] <= ' ' || name[i] > '~')
			return false;
	return length && length < (size_t)got;
}

static bool read_device(pid_t pid, const uint8_t *entry, struct ucx_device *device)
{
	struct bus_id bus;
	uint64_t name;

	memcpy(&bus, entry, sizeof(bus));
	memcpy(&name, entry + NAME, sizeof(name));
	if (bus.slot > 31 || bus.function > 7 || !name ||
	    !read_name(pid, name, device->name, sizeof(device->name)))
		return false;
	snprintf(device->pci, sizeof(device->pci), "%04x:%02x:%02x.%x", bus.domain, bus.bus,
		 bus.slot, bus.function & 7);
	return true;
}

static bool read_device_table(struct ucx_memory *memory, const struct ucx_place *place,
			      uint32_t count, size_t stride)
{
	uint8_t table[MAX_DEVICES * STRIDE_MAX];
	size_t size = count * stride;

	memory->devices.len = 0;
	if (proc_read_memory(place->pid, place->devices - MAX_DEVICES * stride, table, size) !=
	    (long)size)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!read_device(place->pid, table + i * stride, vec_add(&memory->devices))) {
			memory->devices.len = 0;
			return false;
		}
	return true;
}

static void ucx_devices_read(struct ucx_memory *memory, const struct ucx_place *place)
{
	uint32_t count = 0;

	if (!place->devices ||
	    proc_read_memory(place->pid, place->devices, &count, sizeof(count)) != sizeof(count)) {
		memory->reason = "UCX's table of devices was not found";
		return;
	}
	if (!count)
		return;
	for (size_t stride = STRIDE_MIN; count <= MAX_DEVICES && stride <= STRIDE_MAX;
	     stride += STRIDE_STEP)
		if (read_device_table(memory, place, count, stride))
			return;
	memory->reason = "UCX's table of devices is not as expected";
}

/*
 * UCX's cache of memory types: a page table (src/ucs/datastruct/pgtable.h, the same since 1.13)
 * of regions that GPU libraries were seen to make, each with what UCX found out about it when
 * it was first sent from.
 */
struct cache_table {
	uint64_t root, base, mask;
	uint32_t shift, regions;
};

#define ENTRIES 16
#define IS_REGION 1
#define IS_DIRECTORY 2
#define FLAGS 3
#define LEVELS 16 /* 64 bits of address, 4 for each */
#define MAX_REGIONS (1u << 20)
#define TRIES 3 /* it may change while it is read */

/* Behind the lock: a pthread_spinlock_t since 1.16, a pthread_rwlock_t before. */
static const uint64_t table_places[] = { 8, 56 };

/* struct ucs_memtype_cache_region */
struct cache_region {
	uint64_t start, end;
	uint64_t list[2];
	uint32_t type;
	uint8_t device, pad[3];
};

struct walk {
	struct ucx_memory *memory;
	const struct ucx_place *place;
	uint64_t last; /* the region that was read last: one may fill several entries */
	uint32_t found, wanted;
	uint32_t directories; /* many that lead to the same one would never end */
};

static bool read_all(pid_t pid, uint64_t address, void *buffer, size_t size)
{
	return proc_read_memory(pid, address, buffer, size) == (long)size;
}

/* A forged table may claim a million regions, and 32 directories for each. */
static bool read_entry(const struct walk *walk, uint64_t address, void *buffer, size_t size)
{
	return !deadline_over(walk->place->deadline) &&
	       read_all(walk->place->pid, address, buffer, size);
}

static bool add_region(struct walk *walk, uint64_t address)
{
	struct cache_region region;

	if (address == walk->last)
		return true;
	walk->last = address;
	if (++walk->found > walk->wanted || !read_entry(walk, address, &region, sizeof(region)) ||
	    region.start >= region.end || region.end > BOUNDS_ADDRESS)
		return false;
	vec_push(&walk->memory->regions,
		 ((struct ucx_region){ region.start, region.end, region.type, region.device }));
	return true;
}

/* What is open of a directory: the entries from next on. */
struct cache_level {
	uint64_t entries[ENTRIES];
	unsigned int next;
};

/* Depth first, so in order of address. */
static bool walk_table(struct walk *walk, uint64_t root)
{
	struct cache_level levels[LEVELS];
	int depth = 0;

	levels[0] = (struct cache_level){ .entries = { root }, .next = 0 };
	while (depth >= 0) {
		struct cache_level *level = &levels[depth];
		uint64_t entry;

		if (level->next == ENTRIES) {
			depth--;
			continue;
		}
		entry = level->entries[level->next++];
		if (entry & IS_REGION && !add_region(walk, entry & ~(uint64_t)FLAGS))
			return false;
		if ((entry & FLAGS) != IS_DIRECTORY)
			continue;
		if (++depth == LEVELS || ++walk->directories > 2 * LEVELS * walk->wanted ||
		    !read_entry(walk, entry & ~(uint64_t)FLAGS, levels[depth].entries,
				sizeof(levels[depth].entries)))
			return false;
		levels[depth].next = 0;
	}
	return walk->found == walk->wanted;
}

static bool in_order(const struct ucx_memory *memory)
{
	for (size_t i = 1; i < memory->regions.len; i++)
		if (memory->regions.data[i].start < memory->regions.data[i - 1].end)
			return false;
	return true;
}

/* mask has the bits above shift, and base none below. */
static bool plausible(const struct cache_table *table)
{
	uint64_t mask = table->shift >= 64 ? 0 : ~0ull << table->shift;

	return table->shift && table->shift <= 64 && table->shift % 4 == 0 && table->mask == mask &&
	       !(table->base & ~mask) && table->regions <= MAX_REGIONS &&
	       !table->root == !table->regions;
}

static bool read_table(struct ucx_memory *memory, const struct ucx_place *place, uint64_t address)
{
	struct walk walk = { .memory = memory, .place = place };
	struct cache_table table;

	memory->regions.len = 0;
	if (!read_all(place->pid, address, &table, sizeof(table)) || !plausible(&table))
		return false;
	walk.wanted = table.regions;
	return walk_table(&walk, table.root) && in_order(memory);
}

static bool read_cache(struct ucx_memory *memory, const struct ucx_place *place, uint64_t cache)
{
	for (int i = 0; i < TRIES && !deadline_over(place->deadline); i++)
		for (size_t at = 0; at < ARRAY_SIZE(table_places); at++)
			if (read_table(memory, place, cache + table_places[at]))
				return true;
	memory->regions.len = 0;
	return false;
}

void ucx_regions_read(struct ucx_memory *memory, const struct ucx_place *place)
{
	uint64_t cache = 0;

	if (!place->cache || !read_all(place->pid, place->cache, &cache, sizeof(cache))) {
		memory->reason = "UCX's cache of memory types was not found";
		return;
	}
	/* it is off, or nobody has asked it yet */
	if (!cache)
		return;
	memory->cached = read_cache(memory, place, cache);
	if (!memory->cached)
		memory->reason = deadline_over(place->deadline)
					 ? "UCX's cache of memory types was not read in time"
					 : "UCX's cache of memory types is not as expected";
}

static const struct ucx_file *file_of(ucx_files *files, const struct library *library)
{
	struct ucx_file *file;

	for (size_t i = 0; i < files->len; i++)
		if (files->data[i].library == library)
			return &files->data[i];
	file = vec_add(files);
	*file = (struct ucx_file){ .library = library };
	elf_object(library->elf, "ucs_memtype_cache_global_instance", &file->cache, NULL);
	if (elf_ask_for(library->elf, find_devices, NULL, 0, &file->devices, sizeof(file->devices)))
		file->devices = 0;
	return file;
}

static void forget(struct ucx_memory *memory)
{
	memory->devices.len = 0;
	memory->regions.len = 0;
	memory->cached = false;
	memory->reason = NULL;
}

static void read_copy(struct ucx_memory *memory, const struct ucx_file *file, uint64_t base,
		      pid_t pid, uint64_t deadline)
{
	const struct ucx_place place = { .pid = pid,
					 .deadline = deadline,
					 .cache = file->cache ? file->cache + base : 0,
					 .devices = file->devices ? file->devices + base : 0 };

	forget(memory);
	/* devices are added, and named, before memory on them is */
	ucx_regions_read(memory, &place);
	ucx_devices_read(memory, &place);
}

int ucx_memory_read(struct ucx_memory *memory, ucx_files *files, struct library_set *set, pid_t pid,
		    uint64_t deadline)
{
	mapped_libraries mapped = { 0 };
	int err = process_libraries(pid, set, &mapped), found = -ENOENT;

	forget(memory);
	for (size_t i = 0; !err && !memory->cached && i < mapped.len; i++) {
		if (!(mapped.data[i].library->roles & LIB_UCS))
			continue;
		read_copy(memory, file_of(files, mapped.data[i].library), mapped.data[i].base, pid,
			  deadline);
		found = 0;
	}
	vec_release(&mapped);
	return err ? err : found;
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

	return json_pack("[o, o, s, i]", json_hex(region->start), json_hex(region->end),
			 region->type < ARRAY_SIZE(types) ? types[region->type] : "unknown",
			 region->device == UCX_NO_DEVICE ? -1 : (int)region->device);
}

json_t *ucx_memory_json(const struct ucx_memory *memory)
{
	json_t *devices = json_array(), *regions = json_array(), *ucx;

	for (size_t i = 0; i < memory->devices.len; i++)
		json_array_append_new(devices,
				      json_pack("[o, o]", shape_text(memory->devices.data[i].pci),
						shape_text(memory->devices.data[i].name)));
	for (size_t i = 0; i < memory->regions.len; i++)
		json_array_append_new(regions, region_json(&memory->regions.data[i]));
	ucx = json_pack("{s:o, s:b}", "devices", devices, "cached", memory->cached);
	json_object_set_new(ucx, "regions", regions);
	record_text(ucx, "reason", memory->reason);
	return ucx;
}
