/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of CPUs as the kernel writes them: "0-31,64-95", ascending. */
#ifndef UCXBPF_BASE_CPUS_H
#define UCXBPF_BASE_CPUS_H

#include <stdint.h>

/* How many a list has; -1: it has none, or is no such list, or NULL. */
int64_t cpus_count(const char *list);

/* How many are in both; -1: either is no list. */
int64_t cpus_shared(const char *a, const char *b);

#endif
