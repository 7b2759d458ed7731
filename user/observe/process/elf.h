/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An ELF file on disk, read without running it: symbols, build id, versions, and tables initialised
 * at link time. "Offset" is always a file offset, the unit uprobes use; "vaddr" is a link-time
 * address. Once readers are started (reader.h), one of them parses each file.
 */
#ifndef UCXBPF_PROCESS_ELF_H
#define UCXBPF_PROCESS_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/process/reader.h"

struct elf;
struct remote_file; /* remote.h */

#define ELF_BUILD_ID_TEXT 41 /* 20 bytes in hex, and NUL */

/*
 * Opens path (any path that open(2) takes, /proc/PID/map_files/... included).
 * -ENOEXEC: not ELF or truncated; -EOPNOTSUPP: 32-bit or another machine; -EREMOTEIO:
 * its reader ended, a warning was printed; else -errno of open(2).
 */
int elf_load(struct elf **elf, const char *path);

/* The same of an open file, which is closed with the struct elf, or on failure. */
int elf_load_file(struct elf **elf, const struct remote_file *file);

/*
 * The same in two steps, if elf_roles() is asked next. The first step asks a reader: begin with
 * many files before the first of them ends.
 */
int elf_load_begin(struct elf **elf, const struct remote_file *file);
int elf_load_end(struct elf *elf);

void elf_free(struct elf *elf);

/* Hex text, "" where the file has none. */
const char *elf_build_id(const struct elf *elf);

/* e_machine: EM_X86_64, EM_AARCH64. */
int elf_machine(const struct elf *elf);

/* A function's file offset, from .dynsym, then .symtab. -ENOENT: not defined here. size may be
 * NULL. */
int elf_function(const struct elf *elf, const char *name, uint64_t *offset, uint64_t *size);

/* Copies up to size bytes at a file offset; returns how many, or -errno. */
long elf_read(const struct elf *elf, uint64_t offset, void *buffer, size_t size);

/* The file offset of a link-time address, and back; -ENOENT: in no loaded segment. */
int elf_vaddr_to_offset(const struct elf *elf, uint64_t vaddr, uint64_t *offset);
int elf_offset_to_vaddr(const struct elf *elf, uint64_t offset, uint64_t *vaddr);

/* First link-time address after all loaded segments. */
uint64_t elf_reach(const struct elf *elf);

/*
 * File offset of the function that a pointer inside a const-initialised data object points to; at:
 * bytes from the object's start. -ENOENT: no such object, or no pointer into this file there.
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
	/* name of the exported function in that slot, NULL = hidden or empty, or by a reader */
	const char *name[ELF_OPS_SLOTS];
};
/* Fills up to max tables, returns how many there are. */
int elf_ops_tables(const struct elf *elf, struct elf_ops_table *tables, int max);

struct elf_symbol {
	const char *name; /* owned by the struct elf */
	uint64_t vaddr, size;
	bool defined, function;
};

/*
 * Calls fn for every named function and data symbol of .dynsym (dynamic true) or .symtab, imports
 * included, in file order; stops early when fn returns non-zero and returns that. Builds no index,
 * so it is the cheap way to scan a file once. In services only (reader.h).
 */
int elf_each_symbol(const struct elf *elf, bool dynamic,
		    int (*fn)(void *arg, const struct elf_symbol *symbol), void *arg);

/* A data object's link-time address, from .dynsym, then .symtab. -ENOENT: not defined here. */
int elf_object(const struct elf *elf, const char *name, uint64_t *vaddr, uint64_t *size);

/* The open file; stays the struct elf's. */
int elf_fd(const struct elf *elf);
const struct remote_file *elf_file(const struct elf *elf);

/* The same, or a copy of its content if its file system might stop answering and it is not large.
 */
int elf_content_fd(const struct elf *elf);

/* Whether a dynamic linker loads it. */
bool elf_has_interpreter(const struct elf *elf);

/* True: an executable (position independent or not), false: a shared library. */
bool elf_is_executable(const struct elf *elf);

/*
 * Whether it is linked as a program (ET_EXEC, or DF_1_PIE, which dynamic linkers refuse to load as
 * a library: glibc since 2.30). Stricter than elf_is_executable(): libc.so.6 may be run, too.
 * False: perhaps; linkers before binutils 2.26 do not mark position-independent programs.
 */
bool elf_is_program(const struct elf *elf);

/*
 * The load bias, which is added to a link-time address, in a process that maps the file's byte
 * `offset` executable at `start`. A segment need not begin at a page, so two segments may share a
 * file page: only the executable one counts. -ENOENT: no such segment.
 */
int elf_load_bias(const struct elf *elf, uint64_t start, uint64_t offset, uint64_t *bias);

/* Name of the n-th library (from 0) that the file needs, NULL after the last; the struct elf's. */
const char *elf_needed(const struct elf *elf, unsigned int n);

/*
 * Calls fn for each folder of DT_RUNPATH, else of DT_RPATH, with $ORIGIN replaced by the folder of
 * path, which is the file's own. Stops early when fn returns non-zero and returns that.
 */
int elf_each_runpath(const struct elf *elf, const char *path,
		     int (*fn)(void *arg, const char *folder), void *arg);

/*
 * A symbol version (IBVERBS_1.8) that the file needs of a library with that name and that the one
 * found does not define: the loader refuses the file then. NULL: none; else the caller's.
 */
char *elf_lacks_version(const struct elf *elf, const char *name, const struct elf *found);

/*
 * Calls fn for each text of .rodata that begins with that character and is not the tail of another
 * one; stops early when fn returns non-zero and returns that. In services only.
 */
int elf_each_text(const struct elf *elf, char first, int (*fn)(void *arg, const char *text),
		  void *arg);

/*
 * Asks the process that parses the file: its reader, or this one. As reader_file_ask(); the caller
 * checks the answer and releases it.
 */
long elf_ask(const struct elf *elf, reader_service serve, const void *arguments, size_t size,
	     reader_answer *answer);

/* For an answer of exactly this size. 0 or -errno. */
int elf_ask_for(const struct elf *elf, reader_service serve, const void *arguments, size_t size,
		void *answer, size_t answer_size);

/* The answer was invalid: returns -EREMOTEIO, and the file is not used any more. */
int elf_refuse(const struct elf *elf);

#endif
