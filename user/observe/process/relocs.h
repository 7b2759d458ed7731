/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pointers that the dynamic linker fills in: which word gets which address or symbol.
 */
#ifndef UCXBPF_TARGET_RELOCS_H
#define UCXBPF_TARGET_RELOCS_H

#include <stdint.h>

#include "base/vec.h"
#include "observe/process/elf.h"

struct reloc {
	uint64_t vaddr; /* the word */
	uint64_t target; /* link-time address it points to, in this file */
	const char *import; /* name of another file's symbol instead, else NULL */
};

struct relocs {
	VEC(struct reloc) all; /* by vaddr */
};

/* Collects all 64-bit data relocations; a file without any (or a broken one) gives none. */
void relocs_init(struct relocs *relocs, const struct elf *elf);
void relocs_release(struct relocs *relocs);

/* The relocation of that word, or NULL. */
const struct reloc *relocs_find(const struct relocs *relocs, uint64_t vaddr);

/* Name of what it points to: the import, or the exported function there; NULL = hidden. */
const char *reloc_name(const struct elf *elf, const struct reloc *reloc);

#endif
