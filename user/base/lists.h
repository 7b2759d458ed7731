/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists in one word: names as resource managers write them; CPUs as the kernel writes them,
 * "0-31,64-95", ascending.
 */
#ifndef UCXBPF_BASE_LISTS_H
#define UCXBPF_BASE_LISTS_H

#include <stddef.h>
#include <stdint.h>

/*
 * n0, n1, n2, n10, m7 -> "m7,n[0-2,10]"; the widths of numbers are kept: lrdn[0801-0804]. In order,
 * each name once. A name of other characters than letters, digits, '.', '_' and '-' stays as it is.
 * The caller frees it.
 */
char *fold_names(const char *const *names, size_t count);

/* How many a list has; -1: it has none, or is no such list, or NULL. */
int64_t cpus_count(const char *list);

/* How many are in both; -1: either is no list. */
int64_t cpus_shared(const char *a, const char *b);

#endif
