/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which code a process maps: its executable mappings, the files behind them, each known once
 * however many processes map it, and names for addresses in such a file.
 */
#ifndef UCXBPF_PROCESS_CODE_H
#define UCXBPF_PROCESS_CODE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"
#include "base/vec.h"
#include "observe/process/elf.h"
#include "observe/process/proc.h"

struct code_file {
	dev_t dev;
	ino_t ino;
	int number; /* unique, also once this file is freed */
	char *path; /* as the first process that mapped it sees it */
	bool rewritten; /* in place, since it was looked at */
	bool looked; /* code_file_elf() was called */
	int error; /* result of the opening, -errno */
	struct elf *elf;
};

struct code_files {
	VEC(struct code_file *) all;
	struct map known; /* (dev, ino): the struct code_file * */
	int next; /* number */
};

struct code_range {
	uint64_t start, end; /* addresses */
	uint64_t offset; /* of start in the file */
	struct code_file *file; /* NULL: made at run time, or the kernel's own ([vdso]) */
};

typedef VEC(struct code_range) code_ranges;

void code_files_release(struct code_files *files);

/* Frees all files but those whose numbers are in the map. */
void code_files_keep(struct code_files *files, const struct map *numbers);

/* Files with these keys (library.h) are looked at anew where they are found next. */
void code_files_rewritten(struct code_files *files, const struct map *keys);

/* A file by its identity, opened through open_path if it was not known. */
struct code_file *code_files_open(struct code_files *files, dev_t dev, ino_t ino, const char *path,
				  const char *open_path);

/* The range of a mapping, and its file. */
struct code_range code_range_of(struct code_files *files, const struct mapping *mapping);

/* Lists the executable mappings of pid in address order. -ESRCH: gone, -EACCES. */
int code_list(pid_t pid, struct code_files *files, code_ranges *ranges);

/* The range around an address, NULL = none. */
const struct code_range *code_find(const code_ranges *ranges, uint64_t address);

/*
 * The file of a range of pid, opened at the first time and kept open, so that it may be deleted.
 * NULL: file->error says why.
 */
struct elf *code_file_elf(pid_t pid, const struct code_range *range);

/* The offset to add to a link-time address in the range; -ENOENT, or file->error. */
int code_bias(const struct code_range *range, uint64_t *bias);

/* Link-time address of an address in the range; its file offset where the file cannot be read. */
uint64_t code_vaddr(const struct code_range *range, uint64_t address);

/*
 * Names for addresses in a file: from its symbol tables and DWARF, or from separate debug files
 * below /usr/lib/debug, by build id or .gnu_debuglink.
 */
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
 * Symbol and line of the call that returns to this link-time address: looked up at the instruction
 * before it, as a call that never returns may end its function. Strings live as long as symbols.
 */
void symbols_find(struct symbols *symbols, uint64_t return_vaddr, struct symbol *symbol);

#endif
