/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a libucp says about itself without debug information, from its code.
 */
#ifndef UCXBPF_TARGET_UCX_BUILD_H
#define UCXBPF_TARGET_UCX_BUILD_H

#include "observe/process/elf.h"
#include "observe/process/layout.h"

/*
 * Release numbers, from the constants that ucp_get_version() stores (src/ucp/core/ucp_version.c.in,
 * 1.13.1 to 1.22.0), else from the text that ucp_get_version_string() returns. -ENOENT: not found.
 */
int ucx_version(const struct elf *elf, unsigned int version[3]);

/*
 * sizeof(ucp_request_t) in bytes: ucp_request_is_completed() gets a pointer behind the request and
 * reads its flags, which follow the first word (src/ucp/core/ucp_request.c, 1.13.1 to 1.22.0).
 * 0: not found, or not x86-64.
 */
unsigned int ucx_request_size(const struct elf *elf);

/*
 * Whether ucs_assert() is compiled in: ucp_request_check_status() has one, and nothing else that
 * would leave it (src/ucp/core/ucp_request.c, 1.13.0 to 1.22.0). Unknown: not found, or not x86-64.
 */
enum ucx_asserts ucx_asserts(const struct elf *elf);

#endif
