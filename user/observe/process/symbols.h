/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names for addresses in a file: from its symbol tables and DWARF, or from separate debug files
 * below /usr/lib/debug, by build id or .gnu_debuglink.
 */
#ifndef UCXBPF_TARGET_SYMBOLS_H
#define UCXBPF_TARGET_SYMBOLS_H

#include <stdint.h>

#include "observe/process/elf.h"

struct symbols;

struct symbol {
	const char *name; /* NULL = no symbol covers the address */
	uint64_t offset; /* from the symbol's start */
	const char *file; /* NULL = no line information */
	int line;
};

/* The file's names; elf must outlive them. NULL: the file's layout is beyond libdw. */
struct symbols *symbols_open(const struct elf *elf, const char *path);
void symbols_free(struct symbols *symbols);

/*
 * What is at the call that returns to this link-time address: the instruction before it counts, as
 * a call that never returns may end its function. Strings live as long as symbols.
 */
void symbols_find(struct symbols *symbols, uint64_t return_vaddr, struct symbol *symbol);

#endif
