/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How to get from a function's frame to its caller's without a frame pointer: a file's .eh_frame as
 * the sorted rows that the BPF side searches (ucxbpf.h, struct ub_row). x86-64.
 */
#ifndef UCXBPF_TARGET_UNWIND_H
#define UCXBPF_TARGET_UNWIND_H

#include "base/vec.h"
#include "target/elf.h"
#include "ucxbpf.h"

typedef VEC(struct ub_row) unwind_rows;

/*
 * Appends the rows of a file, in order of pc. Code that nothing is said of has a row that stops a
 * walk with UB_STACK_NO_ROWS. -ENOENT: no .eh_frame, or none with an index that can be read;
 * -EOPNOTSUPP: not x86-64.
 */
int unwind_read(const struct elf *elf, unwind_rows *rows);

#endif
