/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules to get from a function's frame to its caller's without a frame pointer: a file's .eh_frame
 * as the sorted rows that the BPF side searches (ucxbpf_rows.h). x86-64.
 */
#ifndef UCXBPF_PROCESS_UNWIND_H
#define UCXBPF_PROCESS_UNWIND_H

#include "base/vec.h"
#include "observe/process/elf.h"
#include "ucxbpf_rows.h"

typedef VEC(struct ub_row) unwind_rows;

struct unwind;

/*
 * Whether a function begins at a link-time address, by the file's symbols or its table of unwind
 * information (.eh_frame_hdr). In services only (reader.h).
 */
bool unwind_begins_at(const struct elf *elf, uint64_t vaddr);

/* elf must outlive it. -ENOENT: no .eh_frame with an index; -EOPNOTSUPP: not x86-64; -ENOMEM. */
int unwind_open(struct unwind **unwind, const struct elf *elf);
void unwind_close(struct unwind *unwind);

/*
 * Appends the rows of more functions, in order of pc, for about ns nanoseconds, at most for some
 * milliseconds. Equal neighbours are merged; code without unwinding information has a row that
 * stops a walk with UB_STACK_NO_ROWS, and so has code before the first function: the first row's pc
 * is 0. 1: more to read; 0: complete; -ENOENT: the index cannot be
 * read; -EBADMSG: it is malformed; -E2BIG: more rows than any library has. Takes about a quarter of
 * a microsecond per row, more in functions of thousands.
 */
int unwind_read(struct unwind *unwind, unwind_rows *rows, uint64_t ns);

/* The rule of the row for one place, without the rows before it. */
uint32_t unwind_rule(struct unwind *unwind, uint64_t pc);

#endif
