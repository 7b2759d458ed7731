/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a command's result goes: a file that -o names, or standard output; an export of captures.
 */
#ifndef UCXBPF_CMD_OUTPUT_OUTPUT_H
#define UCXBPF_CMD_OUTPUT_OUTPUT_H

#include <stdio.h>

#include "base/newfile.h"

struct captures;
struct export_request;

/*
 * Calls write() to put a result into a file; path NULL: standard output. An existing file stays as
 * it is until the new one is whole, also when a signal ends this process; pipes and devices are
 * written to directly. Returns 0 or -errno of write() or of a failed write, which is not printed.
 */
int output_write(const char *path, enum newfile_readers readers, int (*write)(void *arg, FILE *out),
		 void *arg);

/* For messages. */
const char *output_name(const char *path);

/* Prints errors. command: its name, for the progress line. Returns the exit status. */
int export_captures(const char *command, const struct export_request *request,
		    struct captures *captures);

#endif
