/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text files that are read. A named pipe is refused, which may never get a writer; a shell's pipes,
 * as /dev/stdin or <(COMMAND), are read.
 */
#ifndef UCXBPF_BASE_READABLE_H
#define UCXBPF_BASE_READABLE_H

#include <stdio.h>

/* As fopen(path, "re"). NULL: errno says why, ESPIPE: a named pipe. */
FILE *readable_open(const char *path);

/* -errno of readable_open() in words. */
const char *readable_why(int err);

#endif
