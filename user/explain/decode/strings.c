// SPDX-License-Identifier: BSD-3-Clause
#include "explain/decode/strings.h"

#include <string.h>

static uint64_t hash(const char *text)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3u;
	return h;
}

const char *strings_intern(struct strings *strings, const char *text)
{
	uint64_t h;

	if (!text || !*text)
		return NULL;
	h = hash(text);
	for (uint64_t probe = 0;; probe++) {
		bool fresh;
		uint64_t *index = map_insert(&strings->by_hash, h, probe, &fresh);

		if (fresh) {
			*index = strings->all.len;
			vec_push(&strings->all, strdup(text));
			if (!strings->all.data[*index])
				abort();
		}
		if (!strcmp(strings->all.data[*index], text))
			return strings->all.data[*index];
	}
}

void strings_release(struct strings *strings)
{
	for (size_t i = 0; i < strings->all.len; i++)
		free(strings->all.data[i]);
	vec_release(&strings->all);
	map_release(&strings->by_hash);
}
