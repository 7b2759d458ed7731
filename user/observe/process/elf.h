/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an ELF file on disk says without running it: symbols, build id, const-initialised tables.
 * "Offset" is always a file offset, the unit uprobes use; "vaddr" is a link-time address.
 */
#ifndef UCXBPF_TARGET_ELF_H
#define UCXBPF_TARGET_ELF_H

#include <stddef.h>
#include <stdint.h>

struct elf;

#define ELF_BUILD_ID_TEXT 41 /* 20 bytes in hex, and NUL */

/*
 * Opens path (any path that open(2) takes, /proc/PID/map_files/... included).
 * -ENOEXEC: not ELF or truncated; -EOPNOTSUPP: 32-bit or another machine; else -errno of open(2).
 */
int elf_load(struct elf **elf, const char *path);
void elf_free(struct elf *elf);

/* Hex text, "" where the file has none. */
const char *elf_build_id(const struct elf *elf);

/* e_machine: EM_X86_64, EM_AARCH64. */
int elf_machine(const struct elf *elf);

/* A function's file offset, from .dynsym, then .symtab. -ENOENT: not defined here. size may be
 * NULL. */
int elf_function(const struct elf *elf, const char *name, uint64_t *offset, uint64_t *size);

/* Calls fn for every function defined in .dynsym; stops early when fn returns non-zero and returns
 * that. */
int elf_each_function(const struct elf *elf,
		      int (*fn)(void *arg, const char *name, uint64_t offset, uint64_t size),
		      void *arg);

/* Copies up to size bytes at a file offset; returns how many, or -errno. */
long elf_read(const struct elf *elf, uint64_t offset, void *buffer, size_t size);

/* Where in the file a link-time address is, and back; -ENOENT: in none of the loaded segments. */
int elf_vaddr_to_offset(const struct elf *elf, uint64_t vaddr, uint64_t *offset);
int elf_offset_to_vaddr(const struct elf *elf, uint64_t offset, uint64_t *vaddr);

/* First link-time address behind everything that is loaded. */
uint64_t elf_reach(const struct elf *elf);

/*
 * File offset of the function that a pointer inside a const-initialised data object leads to; at:
 * bytes from the object's start. -ENOENT: no such object, or nothing of this file in that place.
 */
int elf_pointer_in(const struct elf *elf, const char *object, uint64_t at, uint64_t *offset);

/*
 * uct_iface_ops_t tables in the data sections: each slot's file offset, 0 = empty, a shared
 * "unsupported" stub or a function of another library. Found by relocations, see
 * docs/architecture.md.
 */
#define ELF_OPS_SLOTS 50
struct elf_ops_table {
	uint64_t vaddr;
	uint64_t slot[ELF_OPS_SLOTS];
	/* name of the exported function in that slot, NULL = hidden or empty */
	const char *name[ELF_OPS_SLOTS];
};
/* Fills up to max tables, returns how many there are. */
int elf_ops_tables(const struct elf *elf, struct elf_ops_table *tables, int max);

#endif
