/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of a struct elf, for process/ only. */
#ifndef UCXBPF_PROCESS_ELF_PRIVATE_H
#define UCXBPF_PROCESS_ELF_PRIVATE_H

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>

#include "base/vec.h"
#include "observe/process/elf.h"
#include "observe/process/reader.h"
#include "observe/process/remote.h"

typedef VEC(struct elf_symbol) elf_symbols;

struct elf_index {
	bool dynsym_loaded, symtab_loaded, by_vaddr_loaded;
	elf_symbols dynsym; /* defined functions and objects, by name */
	elf_symbols symtab;
	elf_symbols by_vaddr; /* the same by address, and an executable's symtab */
};

struct known_symbols;

#define ROLES_UNKNOWN UINT32_MAX

struct unwind_tables;

/*
 * A file is parsed either here, by libelf, or by a reader: then handle is NULL, and the members
 * below it hold the reader's answer.
 */
struct elf {
	struct remote_file file; /* in a reader without descriptors */
	char *image; /* the file mapped, if it may be truncated or stop responding; else NULL */
	struct reader_file *remote;
	Elf *handle;
	int machine;
	int type; /* ET_EXEC, ET_DYN */
	uint64_t size;
	char build_id[ELF_BUILD_ID_TEXT];
	VEC(GElf_Phdr) segments;
	reader_answer needed; /* a reader's: the names of elf_needed(), each with its NUL */
	uint32_t roles; /* a reader's, or ROLES_UNKNOWN */
	struct known_symbols *known; /* a reader's */
	struct unwind_tables *unwind; /* in the process that parses the file: made on first use */
	void (*unwind_free)(struct unwind_tables *tables); /* programs without libdw lack it */
	/* filled on first use: most files are opened only to find that they do not matter */
	struct elf_index *index;
};

/* The first section of that type, or NULL. */
Elf_Scn *elf_section(const struct elf *elf, unsigned int type, GElf_Shdr *header);

/* Name of the exported function (in an executable: of any) that starts at vaddr, or NULL. */
const char *elf_name_at(const struct elf *elf, uint64_t vaddr);

/* Whether vaddr lies in a segment with all these PF_* flags. */
bool elf_vaddr_in(const struct elf *elf, uint64_t vaddr, unsigned int flags);

/* In a reader: looks at a file of that size, which it maps. As elf_load(). */
int elf_parse(struct elf **elf, int fd, uint64_t size);

/* elf_symbols.c */
struct known_symbols *known_symbols_new(void);
void known_symbols_free(struct known_symbols *known);

#endif
