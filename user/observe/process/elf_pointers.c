// SPDX-License-Identifier: BSD-3-Clause
/*
 * Pointers that the dynamic linker fills in: which word gets which address or symbol, and the
 * tables of operations that are made of such words.
 */
#include "observe/process/elf.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "observe/process/elf_private.h"

struct reloc {
	uint64_t vaddr; /* the word */
	uint64_t target; /* link-time address it points to, in this file */
	const char *import; /* name of another file's symbol instead, else NULL */
};

struct relocs {
	VEC(struct reloc) all; /* by vaddr */
};

enum reloc_sort { RELOC_OTHER, RELOC_LOCAL, RELOC_SYMBOL };

static enum reloc_sort sort_of(int machine, uint64_t type)
{
	if (type == (machine == EM_X86_64 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE))
		return RELOC_LOCAL;
	if (type == (machine == EM_X86_64 ? R_X86_64_64 : R_AARCH64_ABS64))
		return RELOC_SYMBOL;
	return RELOC_OTHER;
}

static void add_symbolic(struct relocs *relocs, const struct elf *elf, const GElf_Rela *rela,
			 Elf_Data *symbols, unsigned int strings)
{
	struct reloc reloc = { .vaddr = rela->r_offset };
	GElf_Sym sym;

	if (!symbols || !gelf_getsym(symbols, (int)GELF_R_SYM(rela->r_info), &sym))
		return;
	if (sym.st_shndx == SHN_UNDEF)
		reloc.import = elf_strptr(elf->handle, strings, sym.st_name);
	reloc.target = sym.st_value + (uint64_t)rela->r_addend;
	vec_push(&relocs->all, reloc);
}

static void add_rela(struct relocs *relocs, const struct elf *elf, Elf_Scn *section,
		     const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	Elf_Scn *symbol_section = elf_getscn(elf->handle, header->sh_link);
	Elf_Data *symbols = symbol_section ? elf_getdata(symbol_section, NULL) : NULL;
	GElf_Shdr symbol_header = { 0 };
	GElf_Rela rela;

	if (symbols)
		gelf_getshdr(symbol_section, &symbol_header);
	for (int i = 0; data && gelf_getrela(data, i, &rela); i++) {
		enum reloc_sort sort = sort_of(elf->machine, GELF_R_TYPE(rela.r_info));

		if (sort == RELOC_LOCAL)
			vec_push(&relocs->all,
				 ((struct reloc){ rela.r_offset, (uint64_t)rela.r_addend, NULL }));
		if (sort == RELOC_SYMBOL)
			add_symbolic(relocs, elf, &rela, symbols, symbol_header.sh_link);
	}
}

static void add_in_place(struct relocs *relocs, const struct elf *elf, uint64_t vaddr)
{
	struct reloc reloc = { .vaddr = vaddr };
	uint64_t offset;

	if (!elf_vaddr_to_offset(elf, vaddr, &offset) &&
	    elf_read(elf, offset, &reloc.target, 8) == 8)
		vec_push(&relocs->all, reloc);
}

/* A section may begin at any place of a file. */
static uint64_t word_at(const Elf_Data *data, size_t i)
{
	uint64_t word;

	memcpy(&word, (const char *)data->d_buf + 8 * i, sizeof(word));
	return word;
}

/* SHT_RELR: an even word is an address, an odd one a bitmap of the 63 words after the last. */
static void add_relr(struct relocs *relocs, const struct elf *elf, Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL);
	uint64_t next = 0;

	for (size_t i = 0; data && data->d_buf && i < data->d_size / 8; i++) {
		uint64_t word = word_at(data, i);

		if (!(word & 1)) {
			add_in_place(relocs, elf, word);
			next = word + 8;
			continue;
		}
		for (unsigned int bit = 1; bit < 64; bit++)
			if (word >> bit & 1)
				add_in_place(relocs, elf, next + 8u * (bit - 1));
		next += 63 * 8;
	}
}

/* A program linked to a fixed address has no relocations: its pointers are in place. */
static void add_fixed(struct relocs *relocs, const struct elf *elf, Elf_Scn *section,
		      const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);

	for (size_t i = 0; data && data->d_buf && i < data->d_size / 8; i++) {
		uint64_t word = word_at(data, i);

		if (elf_vaddr_in(elf, word, PF_X))
			vec_push(&relocs->all,
				 ((struct reloc){ header->sh_addr + 8 * i, word, NULL }));
	}
}

static int by_vaddr(const void *a, const void *b)
{
	const struct reloc *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

/* Collects all 64-bit data relocations; a file without any (or a broken one) gives none. */
static void relocs_init(struct relocs *relocs, const struct elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	*relocs = (struct relocs){ 0 };
	while ((section = elf_nextscn(elf->handle, section))) {
		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_RELA && header.sh_flags & SHF_ALLOC)
			add_rela(relocs, elf, section, &header);
		if (header.sh_type == SHT_RELR)
			add_relr(relocs, elf, section);
		if (header.sh_type == SHT_PROGBITS && elf->type == ET_EXEC &&
		    header.sh_flags & SHF_WRITE)
			add_fixed(relocs, elf, section, &header);
	}
	if (relocs->all.len)
		qsort(relocs->all.data, relocs->all.len, sizeof(*relocs->all.data), by_vaddr);
}

static void relocs_release(struct relocs *relocs)
{
	vec_release(&relocs->all);
}

/* The relocation of that word, or NULL. */
static const struct reloc *relocs_find(const struct relocs *relocs, uint64_t vaddr)
{
	struct reloc key = { .vaddr = vaddr };

	if (!relocs->all.len)
		return NULL;
	return bsearch(&key, relocs->all.data, relocs->all.len, sizeof(key), by_vaddr);
}

/* Name of its target: the import, or the exported function there; NULL = hidden. */
static const char *reloc_name(const struct elf *elf, const struct reloc *reloc)
{
	return reloc->import ? reloc->import : elf_name_at(elf, reloc->target);
}

int elf_pointer_in(const struct elf *elf, const char *object, uint64_t at, uint64_t *offset)
{
	const struct reloc *reloc;
	struct relocs relocs;
	uint64_t vaddr, size;
	int err = elf_object(elf, object, &vaddr, &size);

	if (err)
		return err;
	relocs_init(&relocs, elf);
	reloc = relocs_find(&relocs, vaddr + at);
	err = at + sizeof(uint64_t) <= size && reloc && !reloc->import
		      ? elf_vaddr_to_offset(elf, reloc->target, offset)
		      : -ENOENT;
	relocs_release(&relocs);
	return err;
}

/*
 * uct_iface_ops_t is an array of 50 function pointers, initialised at link time in every UCX
 * release since 1.11 (src/uct/api/tl.h: same slots, same order), so each pointer of a
 * table is a relocation. Hidden operations have no symbol but are in such a table.
 */

/* Slots that UCX requires of every transport: a table has a pointer in each of them. */
static const unsigned char required_slots[] = { 24, 26, 29, 33, 38, 40, 41, 45, 46, 47 };

/* Suffixes of the names of shared or exported functions in these slots. */
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

	for (size_t i = 0; i < ARRAY_SIZE(anchors); i++) {
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
	for (size_t i = 0; i < ARRAY_SIZE(required_slots); i++)
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

static int find_tables(const struct elf *elf, struct elf_ops_table *tables, int max)
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

static long list_tables(struct elf *elf, const void *arguments, size_t size, reader_answer *answer)
{
	const int max = *(const int *)arguments;
	struct elf_ops_table *tables = xcalloc((size_t)max, sizeof(*tables));
	int count = find_tables(elf, tables, max);

	(void)size;
	for (int i = 0; i < count && i < max; i++)
		answer_add(answer, &tables[i], sizeof(tables[i]));
	free(tables);
	return count;
}

int elf_ops_tables(const struct elf *elf, struct elf_ops_table *tables, int max)
{
	reader_answer answer = { 0 };
	size_t at = 0;
	long count;

	if (elf->handle)
		return find_tables(elf, tables, max);
	count = elf_ask(elf, list_tables, &max, sizeof(max), &answer);
	if (count > 0 && answer.len != (size_t)(count < max ? count : max) * sizeof(*tables))
		count = elf_refuse(elf);
	for (int i = 0; i < count && i < max; i++) {
		answer_take(&answer, &at, &tables[i], sizeof(tables[i]));
		/* these are the reader's pointers */
		memset(tables[i].name, 0, sizeof(tables[i].name));
	}
	vec_release(&answer);
	return count > 0 ? (int)count : 0;
}
