/* SPDX-License-Identifier: BSD-3-Clause */
/* Captures that tell of the same process at the same time: its records would count twice. */
#ifndef UCXBPF_MATCH_OVERLAP_H
#define UCXBPF_MATCH_OVERLAP_H

#include <jansson.h>
#include <stdbool.h>

/* Of a capture: the host, when it was made, and who was in it; borrows its side records. */
struct extent {
	const char *host;
	json_int_t from, to;
	const json_t *sides;
};

struct extent extent_of(const json_t *sides);

/* Whether two captures hold one process at one time. */
bool extents_overlap(const struct extent *a, const struct extent *b);

#endif
