// SPDX-License-Identifier: BSD-3-Clause
/*
 * uct_iface_ops_t is an array of 50 function pointers, initialised at link time in every UCX
 * release from 1.11.0 to 1.22.0 (src/uct/api/tl.h: same slots, same order), so each pointer of a
 * table is a relocation. Hidden operations have no symbol but are in such a table.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observe/process/elf_private.h"
#include "observe/process/ops_tables.h"
#include "observe/process/relocs.h"

/* Slots that UCX requires of every transport: a table has a pointer in each of them. */
static const unsigned char required_slots[] = { 24, 26, 29, 33, 38, 40, 41, 45, 46, 47 };

/* What the names of shared or exported functions in these slots end in. */
static const struct {
	unsigned char slot;
	const char *suffix;
} anchors[] = {
	{ 24, "_pending_add" },
	{ 25, "_pending_purge" },
	{ 26, "_flush" },
	{ 27, "_fence" },
	{ 38, "_iface_flush" },
	{ 39, "_iface_fence" },
	{ 40, "_iface_progress_enable" },
	{ 41, "_iface_progress_disable" },
	{ 46, "_iface_query" },
	{ 47, "_get_device_address" },
	{ 48, "_get_address" },
	{ 49, "_is_reachable" },
};

#define MIN_ANCHORS 2
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static bool ends_in(const char *name, const char *suffix)
{
	size_t length = strlen(name), tail = strlen(suffix);

	return length >= tail && !strcmp(name + length - tail, suffix);
}

static bool is_stub(const char *name)
{
	return name && !strncmp(name, "ucs_empty_function", strlen("ucs_empty_function"));
}

static unsigned int count_anchors(const struct elf *elf, const struct relocs *relocs, uint64_t base)
{
	unsigned int count = 0;

	for (size_t i = 0; i < COUNT(anchors); i++) {
		const struct reloc *reloc = relocs_find(relocs, base + 8u * anchors[i].slot);
		const char *name = reloc ? reloc_name(elf, reloc) : NULL;

		count += name && !strncmp(name, "uct_", 4) && ends_in(name, anchors[i].suffix);
	}
	return count;
}

static bool is_code(const struct elf *elf, const struct reloc *reloc)
{
	return reloc && (reloc->import || elf_vaddr_in(elf, reloc->target, PF_X));
}

static bool is_table(const struct elf *elf, const struct relocs *relocs, uint64_t base)
{
	for (size_t i = 0; i < COUNT(required_slots); i++)
		if (!is_code(elf, relocs_find(relocs, base + 8u * required_slots[i])))
			return false;
	return count_anchors(elf, relocs, base) >= MIN_ANCHORS;
}

static void fill(const struct elf *elf, const struct relocs *relocs, uint64_t base,
		 struct elf_ops_table *table)
{
	memset(table, 0, sizeof(*table));
	table->vaddr = base;
	for (unsigned int i = 0; i < ELF_OPS_SLOTS; i++) {
		const struct reloc *reloc = relocs_find(relocs, base + 8u * i);
		const char *name;

		if (!reloc || reloc->import || !elf_vaddr_in(elf, reloc->target, PF_X))
			continue;
		name = elf_name_at(elf, reloc->target);
		if (is_stub(name) || elf_vaddr_to_offset(elf, reloc->target, &table->slot[i]))
			continue;
		table->name[i] = name;
	}
}

int elf_ops_tables(const struct elf *elf, struct elf_ops_table *tables, int max)
{
	struct relocs relocs;
	uint64_t next = 0;
	int count = 0;

	relocs_init(&relocs, elf);
	for (size_t i = 0; i < relocs.all.len; i++) {
		/* slot 26 is always filled, so every table is met through it */
		uint64_t base = relocs.all.data[i].vaddr - 26 * 8;

		if (relocs.all.data[i].vaddr < 26 * 8 || base < next ||
		    !is_table(elf, &relocs, base))
			continue;
		if (count < max)
			fill(elf, &relocs, base, &tables[count]);
		count++;
		next = base + ELF_OPS_SLOTS * 8;
	}
	relocs_release(&relocs);
	return count;
}

void ops_table_transport(const struct elf *elf, const struct elf_ops_table *table, char *name,
			 size_t size)
{
	static const char prefix[] = "uct_", suffix[] = "_iface_t_class";
	const char *object = elf_object_below(elf, table->vaddr, prefix, suffix);
	size_t length;

	*name = '\0';
	if (!object)
		return;
	length = strlen(object) - strlen(prefix) - strlen(suffix);
	snprintf(name, size, "%.*s", (int)length, object + strlen(prefix));
}
