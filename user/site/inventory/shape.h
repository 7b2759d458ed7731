/* SPDX-License-Identifier: BSD-3-Clause */
/* Structs as JSON objects and back, by tables of their members. Private to inventory/. */
#ifndef UCXBPF_INVENTORY_SHAPE_H
#define UCXBPF_INVENTORY_SHAPE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum shape_type {
	SHAPE_END,
	SHAPE_TEXT, /* char *; null: NULL */
	SHAPE_NUMBER, /* int64_t of 0 or more; null: -1; beyond 2^53 a text of digits */
	SHAPE_STRUCT, /* of */
	SHAPE_LIST, /* VEC() of structs: of, size */
};

enum shape_need {
	SHAPE_NULL, /* may be null */
	SHAPE_LATER, /* likewise, and missing: files of older versions lack it */
	SHAPE_NEEDED,
};

struct shape {
	const char *name;
	enum shape_type type;
	size_t offset;
	const struct shape *of; /* ends with SHAPE_END */
	size_t size;
	enum shape_need need;
};

/* Sets all numbers to -1, all else to nothing. */
void shape_init(const struct shape *shape, void *to);
void shape_release(const struct shape *shape, void *from);

/* A new object. */
json_t *shape_write(const struct shape *shape, const void *from);

struct shape_error {
	char where[120]; /* "nics[3].rate" */
	const char *what;
};

/* Every member must be there (but for SHAPE_LATER) and be of its type, no other may be. to is made
 * by shape_init(). */
bool shape_read(const struct shape *shape, const json_t *from, void *to, struct shape_error *error);

#endif
