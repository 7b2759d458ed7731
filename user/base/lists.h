/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists in one word: names as resource managers write them, and CPUs as the kernel writes them,
 * ascending: "0-31,64-95".
 */
#ifndef UCXBPF_BASE_LISTS_H
#define UCXBPF_BASE_LISTS_H

#include <stddef.h>
#include <stdint.h>

/*
 * n0, n1, n2, n10, m7 -> "m7,n[0-2,10]"; numbers keep their widths: lrdn[0801-0804]. Sorted, each
 * name once. A name with other characters than letters, digits, '.', '_' and '-' stays as it is.
 * The caller frees it.
 */
char *fold_names(const char *const *names, size_t count);

/* Number of CPUs in a list; -1: it is empty, malformed or NULL. */
int64_t cpus_count(const char *list);

/* Number of CPUs in both; -1: one of them is not a list. */
int64_t cpus_shared(const char *a, const char *b);

#endif
