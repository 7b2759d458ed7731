/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symbols of an ELF file beyond functions: data objects, imports, the neighbourhood of an address.
 */
#ifndef UCXBPF_TARGET_ELF_SYMBOLS_H
#define UCXBPF_TARGET_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "observe/process/elf.h"

struct elf_symbol {
	const char *name; /* owned by the struct elf */
	uint64_t vaddr, size;
	bool defined, function;
};

/*
 * Calls fn for every named function and data symbol of .dynsym (dynamic true) or .symtab, imports
 * included, in file order; stops early when fn returns non-zero and returns that. Builds no index,
 * so it is the cheap way to look at a file once.
 */
int elf_each_symbol(const struct elf *elf, bool dynamic,
		    int (*fn)(void *arg, const struct elf_symbol *symbol), void *arg);

/* A data object's link-time address, from .dynsym, then .symtab. -ENOENT: not defined here. */
int elf_object(const struct elf *elf, const char *name, uint64_t *vaddr, uint64_t *size);

/*
 * The defined data object of .dynsym whose name starts with prefix and ends with suffix, and which
 * lies nearest below vaddr; NULL = none. Copies of one object file stay together in .data, so this
 * tells which object file hidden data came from.
 */
const char *elf_object_below(const struct elf *elf, uint64_t vaddr, const char *prefix,
			     const char *suffix);

/* The open file; stays the struct elf's. */
int elf_fd(const struct elf *elf);

/* True: an executable (position independent or not), false: a shared library. */
bool elf_is_executable(const struct elf *elf);

/*
 * What to add to a link-time address in a process that maps the file's byte `offset` executable at
 * `start`. A segment need not begin at a page, so two segments may share a file page: only the
 * executable one counts. -ENOENT: no such segment.
 */
int elf_load_bias(const struct elf *elf, uint64_t start, uint64_t offset, uint64_t *bias);

#endif
