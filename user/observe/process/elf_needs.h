/* SPDX-License-Identifier: BSD-3-Clause */
/* What a library asks of the loader, and what texts it carries: read, never run. */
#ifndef UCXBPF_TARGET_ELF_NEEDS_H
#define UCXBPF_TARGET_ELF_NEEDS_H

#include "observe/process/elf.h"

/* Name of the n-th library (from 0) that the file needs, NULL behind the last; the struct elf's. */
const char *elf_needed(const struct elf *elf, unsigned int n);

/* DT_RUNPATH, else DT_RPATH: folders with : between, $ORIGIN is the file's; NULL: none. */
const char *elf_runpath(const struct elf *elf);

/*
 * A version of symbols (IBVERBS_1.8) that the file needs of a library by that name and that the one
 * found does not define: the loader refuses the file then. NULL: none.
 */
const char *elf_lacks_version(const struct elf *elf, const char *name, const struct elf *found);

/*
 * Calls fn for each text of .rodata that begins with that character and is no tail of another one;
 * stops early when fn returns non-zero and returns that.
 */
int elf_each_text(const struct elf *elf, char first, int (*fn)(void *arg, const char *text),
		  void *arg);

#endif
