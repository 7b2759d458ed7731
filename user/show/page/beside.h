/* SPDX-License-Identifier: BSD-3-Clause */
/* Links between pages of ours that lie beside each other: a verdict's and its report's. */
#ifndef UCXBPF_PAGE_BESIDE_H
#define UCXBPF_PAGE_BESIDE_H

#include <stdbool.h>

/* Whether a page may link to that: a relative path, of no other scheme, of printable UTF-8. */
bool page_beside(const char *path);

#endif
