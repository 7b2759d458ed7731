/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of a struct elf, for process/ only. */
#ifndef UCXBPF_PROCESS_ELF_PRIVATE_H
#define UCXBPF_PROCESS_ELF_PRIVATE_H

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>

#include "base/vec.h"
#include "observe/process/elf.h"

typedef VEC(struct elf_symbol) elf_symbols;

struct elf_index {
	bool dynsym_loaded, symtab_loaded, by_vaddr_loaded;
	elf_symbols dynsym; /* defined functions and objects, by name */
	elf_symbols symtab;
	elf_symbols by_vaddr; /* the same by address, and an executable's symtab */
};

struct elf {
	int fd;
	char *image; /* the file, where its file system may stop to answer; else NULL */
	Elf *handle;
	int machine;
	int type; /* ET_EXEC, ET_DYN */
	uint64_t size;
	char build_id[ELF_BUILD_ID_TEXT];
	VEC(GElf_Phdr) segments;
	/* filled on first use: most files are opened only to learn that they do not matter */
	struct elf_index *index;
};

/* The first section of that type, or NULL. */
Elf_Scn *elf_section(const struct elf *elf, unsigned int type, GElf_Shdr *header);

/* Name of the exported function (in an executable: of any) that starts at vaddr, or NULL. */
const char *elf_name_at(const struct elf *elf, uint64_t vaddr);

/* Whether vaddr lies in a segment with all these PF_* flags. */
bool elf_vaddr_in(const struct elf *elf, uint64_t vaddr, unsigned int flags);

#endif
