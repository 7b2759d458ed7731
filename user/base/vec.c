// SPDX-License-Identifier: BSD-3-Clause
#include "base/vec.h"

#include <string.h>

#include "base/alloc.h"

void *vec_grow(void *data, size_t *cap, size_t want, size_t size)
{
	size_t new_cap = *cap ? *cap : 16;

	if (want <= *cap)
		return data;
	while (new_cap < want)
		new_cap *= 2;
	data = xreallocarray(data, new_cap, size);
	*cap = new_cap;
	return data;
}

void *vec_zero(void *element, size_t size)
{
	return memset(element, 0, size);
}

size_t vec_replace(void *data, size_t len, size_t n, const void *more, size_t count, size_t size)
{
	const size_t rest = len - n;

	if (n && rest)
		memmove(data, (const char *)data + n * size, rest * size);
	if (count)
		memcpy((char *)data + rest * size, more, count * size);
	return rest + count;
}
