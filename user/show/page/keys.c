// SPDX-License-Identifier: BSD-3-Clause
#include "show/page/keys.h"

#include <string.h>
#include <xxhash.h>

void page_keys_release(struct page_keys *keys)
{
	vec_release(&keys->rows);
	free(keys->slots);
	keys->slots = NULL;
	keys->slot_count = 0;
}

/* The slot of this key, or the free one where it belongs. */
static uint32_t *locate(const struct page_keys *keys, const struct page_key *key)
{
	size_t mask = keys->slot_count - 1, i = XXH3_64bits(key, sizeof(*key)) & mask;

	while (keys->slots[i] && memcmp(&keys->rows.data[keys->slots[i] - 1], key, sizeof(*key)))
		i = (i + 1) & mask;
	return &keys->slots[i];
}

static void grow(struct page_keys *keys)
{
	size_t room = 0;

	free(keys->slots);
	keys->slot_count = keys->slot_count ? keys->slot_count * 2 : 256;
	keys->slots = vec_grow(NULL, &room, keys->slot_count, sizeof(*keys->slots));
	memset(keys->slots, 0, keys->slot_count * sizeof(*keys->slots));
	for (size_t i = 0; i < keys->rows.len; i++)
		*locate(keys, &keys->rows.data[i]) = (uint32_t)i + 1;
}

uint32_t page_key_of(struct page_keys *keys, const struct page_key *key)
{
	const struct page_key copy = *key;
	uint32_t *slot;

	if (keys->rows.len * 2 >= keys->slot_count)
		grow(keys);
	slot = locate(keys, &copy);
	if (!*slot) {
		vec_push(&keys->rows, copy);
		*slot = (uint32_t)keys->rows.len;
	}
	return *slot - 1;
}
