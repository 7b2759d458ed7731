/* SPDX-License-Identifier: BSD-3-Clause */
/* Side records about code (docs/side-records.md); owned by the caller. */
#ifndef UCXBPF_CAPTURE_SIDE_CODE_H
#define UCXBPF_CAPTURE_SIDE_CODE_H

#include <jansson.h>
#include <sys/types.h>

#include "observe/process/code.h"

/* A file that code runs in. */
json_t *side_module(const struct code_file *file);

/* Where an address of a process lies; and why that is not known. */
json_t *side_address(pid_t tgid, uint64_t address, int module, uint64_t offset);
json_t *side_unplaced(pid_t tgid, uint64_t address, const char *reason);

/* What a return address in a module is called. */
json_t *side_symbol(int module, uint64_t offset, const struct symbol *symbol);

#endif
