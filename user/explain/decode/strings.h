/* SPDX-License-Identifier: BSD-3-Clause */
/* Interned strings: one copy each, so that equal strings are equal pointers. */
#ifndef UCXBPF_DECODE_STRINGS_H
#define UCXBPF_DECODE_STRINGS_H

#include "base/map.h"
#include "base/vec.h"

struct strings {
	struct map by_hash;
	VEC(char *) all;
};

/* Returns the one copy of text, owned by strings; NULL for NULL and for "". */
const char *strings_intern(struct strings *strings, const char *text);

void strings_release(struct strings *strings);

#endif
