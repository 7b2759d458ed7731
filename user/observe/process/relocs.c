// SPDX-License-Identifier: BSD-3-Clause
#include "observe/process/relocs.h"

#include <stdlib.h>

#include "observe/process/elf_private.h"

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

/* SHT_RELR: an even word is an address, an odd one a bitmap of the 63 words after the last. */
static void add_relr(struct relocs *relocs, const struct elf *elf, Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL);
	uint64_t next = 0;

	for (size_t i = 0; data && i < data->d_size / 8; i++) {
		uint64_t word = ((const uint64_t *)data->d_buf)[i];

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
		uint64_t word = ((const uint64_t *)data->d_buf)[i];

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

void relocs_init(struct relocs *relocs, const struct elf *elf)
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

void relocs_release(struct relocs *relocs)
{
	vec_release(&relocs->all);
}

const struct reloc *relocs_find(const struct relocs *relocs, uint64_t vaddr)
{
	struct reloc key = { .vaddr = vaddr };

	if (!relocs->all.len)
		return NULL;
	return bsearch(&key, relocs->all.data, relocs->all.len, sizeof(key), by_vaddr);
}

const char *reloc_name(const struct elf *elf, const struct reloc *reloc)
{
	return reloc->import ? reloc->import : elf_name_at(elf, reloc->target);
}
