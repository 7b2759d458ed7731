/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sorts any number of records of one size in bounded memory: what does not fit waits in a file
 * without a name, in $TMPDIR or else /var/tmp.
 */
#ifndef UCXBPF_EXPORT_SORTER_H
#define UCXBPF_EXPORT_SORTER_H

#include <stddef.h>

struct sorter;

/* compare as of qsort(): records that it calls equal come in any order. */
struct sorter *sorter_new(size_t size, int (*compare)(const void *, const void *));
void sorter_free(struct sorter *sorter);

/* Takes a copy. Returns 0 or -errno: the file could not be written. */
int sorter_add(struct sorter *sorter, const void *record);

/* After the last record, before the first sorter_next(). Returns 0 or -errno. */
int sorter_finish(struct sorter *sorter);

/*
 * *record: the next one in order, valid until the next call. Returns 1, 0 at the end, or -errno of
 * the file.
 */
int sorter_next(struct sorter *sorter, const void **record);

#endif
