// SPDX-License-Identifier: BSD-3-Clause
#include "base/strings.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"

void strings_release(struct strings *strings)
{
	for (size_t i = 0; i < strings->all.len; i++)
		free(strings->all.data[i]);
	vec_release(&strings->all);
	map_release(&strings->by_hash);
	map_release(&strings->constants);
}

size_t strings_number(struct strings *strings, const char *text)
{
	const uint64_t hash = XXH3_64bits(text, strlen(text));

	for (uint64_t n = 0;; n++) {
		bool fresh;
		uint64_t *at = map_insert(&strings->by_hash, hash, n, &fresh);

		if (fresh) {
			*at = strings->all.len;
			vec_push(&strings->all, xstrdup(text));
			return *at;
		}
		if (!strcmp(strings->all.data[*at], text))
			return *at;
	}
}

const char *strings_keep(struct strings *strings, const char *text)
{
	size_t number = text ? strings_number(strings, text) : 0;

	return text ? strings->all.data[number] : NULL;
}

const char *strings_intern(struct strings *strings, const char *text)
{
	return text && *text ? strings_keep(strings, text) : NULL;
}

const char *strings_constant(struct strings *strings, const char *text)
{
	uint64_t *copy = text ? map_insert(&strings->constants, (uintptr_t)text, 0, NULL) : NULL;

	if (copy && !*copy)
		*copy = (uintptr_t)strings_intern(strings, text);
	return copy ? (const char *)(uintptr_t)*copy : NULL;
}

const char *strings_field(struct strings *strings, const char *field, size_t size)
{
	char *text = xstrndup(field, size);
	const char *copy = strings_intern(strings, text);

	free(text);
	return copy;
}

const char *strings_find(const struct strings *strings, const char *text, size_t length)
{
	const uint64_t hash = XXH3_64bits(text, length), *at;

	for (uint64_t n = 0; (at = map_find(&strings->by_hash, hash, n)); n++) {
		const char *copy = strings->all.data[*at];

		if (!strncmp(copy, text, length) && !copy[length])
			return copy;
	}
	return NULL;
}
