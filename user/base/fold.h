/* SPDX-License-Identifier: BSD-3-Clause */
/* Many names as one word, the way resource managers write lists of nodes. */
#ifndef UCXBPF_BASE_FOLD_H
#define UCXBPF_BASE_FOLD_H

#include <stddef.h>

/*
 * n0, n1, n2, n10, m7 -> "m7,n[0-2,10]"; the widths of numbers are kept: lrdn[0801-0804]. In order,
 * each name once. A name of other characters than letters, digits, '.', '_' and '-' stays as it is.
 * The caller frees it.
 */
char *fold_names(const char *const *names, size_t count);

#endif
