/* SPDX-License-Identifier: BSD-3-Clause */
/* Interned strings: one copy each, so that equal strings are equal pointers. */
#ifndef UCXBPF_BASE_STRINGS_H
#define UCXBPF_BASE_STRINGS_H

#include "base/map.h"
#include "base/vec.h"

/* A zeroed one is empty. */
struct strings {
	VEC(char *) all; /* in the order in which they came */
	struct map by_hash; /* (hash, number of earlier texts with it) -> position in all */
	struct map constants; /* address of a text that lasts -> its copy */
};

void strings_release(struct strings *strings);

/* Position of the one copy of text, made when new. */
size_t strings_number(struct strings *strings, const char *text);

/* Returns the one copy of text, owned by strings; NULL for NULL. */
const char *strings_keep(struct strings *strings, const char *text);

/* Likewise, NULL for "", too. */
const char *strings_intern(struct strings *strings, const char *text);

/* Likewise, for a text that is never changed nor freed: it is looked up by address. */
const char *strings_constant(struct strings *strings, const char *text);

/* Likewise, for a field of size bytes, which may lack a terminating 0. */
const char *strings_field(struct strings *strings, const char *field, size_t size);

/* The copy that has these bytes (without a 0); NULL: no copy has them. */
const char *strings_find(const struct strings *strings, const char *text, size_t length);

#endif
