/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text files to read. A named pipe is refused, since it may never get a writer; a shell's pipes,
 * such as /dev/stdin or <(COMMAND), are accepted.
 */
#ifndef UCXBPF_BASE_READABLE_H
#define UCXBPF_BASE_READABLE_H

#include <stdio.h>

/* As fopen(path, "re"). NULL: errno says why, ESPIPE: a named pipe. Out of memory: alloc_failed().
 */
FILE *readable_open(const char *path);

/* -errno of readable_open() as text. */
const char *readable_why(int err);

#endif
