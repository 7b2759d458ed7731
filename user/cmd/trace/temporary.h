/* SPDX-License-Identifier: BSD-3-Clause */
/* A capture that nobody keeps, in a directory of its own below TMPDIR. */
#ifndef UCXBPF_CMD_TRACE_TEMPORARY_H
#define UCXBPF_CMD_TRACE_TEMPORARY_H

struct temporary {
	char *directory, *file; /* file: to be written */
};

/* A folder of its own below TMPDIR, the caller's to remove and free. NULL: *err, printed. */
char *temporary_folder(const char *name, int *err);

/* 0, or -errno (printed); then there is nothing to remove. */
int temporary_make(struct temporary *temporary);

/* With the file, if it is there. */
void temporary_remove(struct temporary *temporary);

#endif
