// SPDX-License-Identifier: BSD-3-Clause
/*
 * Symbols by address: what starts here, what lies below.
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "observe/process/elf_private.h"

static int by_vaddr(const void *a, const void *b)
{
	const struct elf_symbol *x = a, *y = b;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void append(struct elf_index *index, const elf_symbols *table)
{
	for (size_t i = 0; i < table->len; i++)
		vec_push(&index->by_vaddr, table->data[i]);
}

static void load_by_vaddr(const struct elf *elf)
{
	struct elf_index *index = elf->index;

	if (index->by_vaddr_loaded)
		return;
	index->by_vaddr_loaded = true;
	append(index, elf_symbol_table(elf, true));
	/* what is linked into an executable is seldom exported */
	if (elf_is_executable(elf))
		append(index, elf_symbol_table(elf, false));
	if (index->by_vaddr.len)
		qsort(index->by_vaddr.data, index->by_vaddr.len, sizeof(*index->by_vaddr.data),
		      by_vaddr);
}

/* Number of symbols that start below vaddr. */
static size_t count_below(const struct elf *elf, uint64_t vaddr)
{
	load_by_vaddr(elf);
	return search_count(elf->index->by_vaddr.len, at,
			    elf->index->by_vaddr.data[at].vaddr < vaddr);
}

const char *elf_name_at(const struct elf *elf, uint64_t vaddr)
{
	size_t i = count_below(elf, vaddr);

	for (; i < elf->index->by_vaddr.len && elf->index->by_vaddr.data[i].vaddr == vaddr; i++)
		if (elf->index->by_vaddr.data[i].function)
			return elf->index->by_vaddr.data[i].name;
	return NULL;
}

static bool has_affixes(const char *name, const char *prefix, const char *suffix)
{
	size_t length = strlen(name), head = strlen(prefix), tail = strlen(suffix);

	return length > head + tail && !strncmp(name, prefix, head) &&
	       !strcmp(name + length - tail, suffix);
}

const char *elf_object_below(const struct elf *elf, uint64_t vaddr, const char *prefix,
			     const char *suffix)
{
	for (size_t i = count_below(elf, vaddr); i-- > 0;) {
		const struct elf_symbol *symbol = &elf->index->by_vaddr.data[i];

		if (!symbol->function && has_affixes(symbol->name, prefix, suffix))
			return symbol->name;
	}
	return NULL;
}
