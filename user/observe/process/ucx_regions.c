// SPDX-License-Identifier: BSD-3-Clause
/*
 * UCX's cache of memory types: a page table (src/ucs/datastruct/pgtable.h, the same in 1.13 to
 * 1.22) of regions that GPU libraries were seen to make, each with what UCX found out about it when
 * it was first sent from.
 */
#include <string.h>

#include "observe/process/proc_file.h"
#include "observe/process/ucx_memory_private.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct table {
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
struct region {
	uint64_t start, end;
	uint64_t list[2];
	uint32_t type;
	uint8_t device, pad[3];
};

struct walk {
	struct ucx_memory *memory;
	pid_t pid;
	uint64_t last; /* the region that was read last: one may fill several entries */
	uint32_t found, wanted;
	uint32_t directories; /* many that lead to the same one would never end */
};

static bool read_all(pid_t pid, uint64_t address, void *buffer, size_t size)
{
	return proc_read_memory(pid, address, buffer, size) == (long)size;
}

static bool add_region(struct walk *walk, uint64_t address)
{
	struct region region;

	if (address == walk->last)
		return true;
	walk->last = address;
	if (++walk->found > walk->wanted ||
	    !read_all(walk->pid, address, &region, sizeof(region)) || region.start >= region.end)
		return false;
	vec_push(&walk->memory->regions,
		 ((struct ucx_region){ region.start, region.end, region.type, region.device }));
	return true;
}

/* What is open of a directory: the entries from next on. */
struct level {
	uint64_t entries[ENTRIES];
	unsigned int next;
};

/* Depth first, so in order of address. */
static bool walk_table(struct walk *walk, uint64_t root)
{
	struct level levels[LEVELS];
	int depth = 0;

	levels[0] = (struct level){ .entries = { root }, .next = 0 };
	while (depth >= 0) {
		struct level *level = &levels[depth];
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
		    !read_all(walk->pid, entry & ~(uint64_t)FLAGS, levels[depth].entries,
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
static bool plausible(const struct table *table)
{
	uint64_t mask = table->shift >= 64 ? 0 : ~0ull << table->shift;

	return table->shift && table->shift <= 64 && table->shift % 4 == 0 && table->mask == mask &&
	       !(table->base & ~mask) && table->regions <= MAX_REGIONS &&
	       !table->root == !table->regions;
}

static bool read_table(struct ucx_memory *memory, pid_t pid, uint64_t address)
{
	struct walk walk = { .memory = memory, .pid = pid };
	struct table table;

	memory->regions.len = 0;
	if (!read_all(pid, address, &table, sizeof(table)) || !plausible(&table))
		return false;
	walk.wanted = table.regions;
	return walk_table(&walk, table.root) && in_order(memory);
}

static bool read_cache(struct ucx_memory *memory, pid_t pid, uint64_t cache)
{
	for (int i = 0; i < TRIES; i++)
		for (size_t place = 0; place < COUNT(table_places); place++)
			if (read_table(memory, pid, cache + table_places[place]))
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
	memory->cached = read_cache(memory, place->pid, cache);
	if (!memory->cached)
		memory->reason = "UCX's cache of memory types is not as expected";
}
