/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays. VEC() grows: struct { T *data; size_t len, cap; }.
 * A failed allocation ends the program (alloc.h).
 */
#ifndef UCXBPF_BASE_VEC_H
#define UCXBPF_BASE_VEC_H

#include <stddef.h>
#include <stdlib.h>

/* Number of elements of an array; not for a pointer. */
#define ARRAY_SIZE(array) (sizeof(array) / sizeof(*(array)))

#define VEC(T)                                                                                     \
	struct {                                                                                   \
		T *data;                                                                           \
		size_t len;                                                                        \
		size_t cap;                                                                        \
	}

/* Makes room for want elements of size bytes; returns the (moved) array. */
void *vec_grow(void *data, size_t *cap, size_t want, size_t size);

#define vec_reserve(v, want)                                                                       \
	((v)->data = vec_grow((v)->data, &(v)->cap, (want), sizeof(*(v)->data)))

/* Appends one zeroed element and returns its address, valid until the next append. */
#define vec_add(v)                                                                                 \
	(vec_reserve((v), (v)->len + 1), vec_zero(&(v)->data[(v)->len], sizeof(*(v)->data)),       \
	 &(v)->data[(v)->len++])

#define vec_push(v, value) (*vec_add(v) = (value))

#define vec_release(v)                                                                             \
	do {                                                                                       \
		free((v)->data);                                                                   \
		(v)->data = NULL;                                                                  \
		(v)->len = 0;                                                                      \
		(v)->cap = 0;                                                                      \
	} while (0)

/*
 * Drops the first n elements, appends those of more, at most n, and releases more: what had no turn
 * comes first the next time.
 */
#define vec_requeue(v, n, more)                                                                    \
	do {                                                                                       \
		(v)->len = vec_replace((v)->data, (v)->len, (n), (more)->data, (more)->len,        \
				       sizeof(*(v)->data));                                        \
		vec_release(more);                                                                 \
	} while (0)

void *vec_zero(void *element, size_t size);
/* For vec_requeue(): returns the new length. */
size_t vec_replace(void *data, size_t len, size_t n, const void *more, size_t count, size_t size);

#endif
