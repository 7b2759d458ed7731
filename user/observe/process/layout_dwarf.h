/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A layout read from debug information, for UCX builds that are not in the table.
 */
#ifndef UCXBPF_TARGET_LAYOUT_DWARF_H
#define UCXBPF_TARGET_LAYOUT_DWARF_H

#include "observe/process/elf.h"
#include "observe/process/layout.h"

/*
 * From the libucp itself, else from its separate debug file below /usr/lib/debug (by build id or
 * .gnu_debuglink). NULL: no debug information, or one that lacks a struct. The caller frees it.
 */
const struct layout *layout_from_dwarf(const struct elf *elf, const unsigned int version[3]);

void layout_dwarf_free(const struct layout *layout);

#endif
