/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UCXBPF_MATCH_OVERLAP_H
#define UCXBPF_MATCH_OVERLAP_H

#include <jansson.h>
#include <stdbool.h>

/* Whether two captures, given by their side records, hold one process at one time. */
bool sides_overlap(const json_t *a, const json_t *b);

#endif
