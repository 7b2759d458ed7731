/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sorts any number of fixed-size records in bounded memory: the rest is kept in an unnamed file in
 * $TMPDIR, or in /var/tmp.
 */
#ifndef UCXBPF_EXPORT_SORTER_H
#define UCXBPF_EXPORT_SORTER_H

#include <stddef.h>

struct sorter;

/* compare as for qsort(); equal records come in any order. */
struct sorter *sorter_new(size_t size, int (*compare)(const void *, const void *));
void sorter_free(struct sorter *sorter);

/* Copies the record. Returns 0 or -errno of the file. */
int sorter_add(struct sorter *sorter, const void *record);

/* After the last record, before the first sorter_next(). Returns 0 or -errno. */
int sorter_finish(struct sorter *sorter);

/*
 * Sets *record to the next one, valid until the next call. Returns 1, 0 at the end, or -errno of
 * the file.
 */
int sorter_next(struct sorter *sorter, const void **record);

#endif
