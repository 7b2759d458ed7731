// SPDX-License-Identifier: BSD-3-Clause
#include "base/vec.h"

#include <stdio.h>
#include <string.h>

void *vec_grow(void *data, size_t *cap, size_t want, size_t size)
{
	size_t new_cap = *cap ? *cap : 16;

	if (want <= *cap)
		return data;
	while (new_cap < want)
		new_cap *= 2;
	data = reallocarray(data, new_cap, size);
	if (!data) {
		fprintf(stderr, "ucxbpf: error: out of memory for %zu elements\n", new_cap);
		abort();
	}
	*cap = new_cap;
	return data;
}

void *vec_zero(void *element, size_t size)
{
	return memset(element, 0, size);
}
