// SPDX-License-Identifier: BSD-3-Clause
#include "base/map.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"

enum { SLOT_EMPTY, SLOT_LIVE, SLOT_DELETED };

uint64_t map_text(const char *text)
{
	return text ? XXH3_64bits(text, strlen(text)) : 0;
}

void map_release(struct map *map)
{
	free(map->slots);
	free(map->state);
	*map = (struct map){ 0 };
}

static size_t hash(uint64_t a, uint64_t b)
{
	uint64_t h = a * 0x9e3779b97f4a7c15u ^ (b + 0x7f4a7c15u) * 0xc2b2ae3d27d4eb4fu;

	h ^= h >> 29;
	h *= 0xbf58476d1ce4e5b9u;
	return h ^ h >> 32;
}

uint64_t *map_find(const struct map *map, uint64_t a, uint64_t b)
{
	size_t mask = map->cap - 1;

	if (!map->cap)
		return NULL;
	for (size_t i = hash(a, b) & mask; map->state[i] != SLOT_EMPTY; i = (i + 1) & mask)
		if (map->state[i] == SLOT_LIVE && map->slots[i].a == a && map->slots[i].b == b)
			return &map->slots[i].value;
	return NULL;
}

static void rehash(struct map *map, size_t cap)
{
	struct map old = *map;

	map->slots = xcalloc(cap, sizeof(*map->slots));
	map->state = xcalloc(cap, 1);
	map->cap = cap;
	map->used = 0;
	map->filled = 0;
	for (size_t i = 0; i < old.cap; i++)
		if (old.state[i] == SLOT_LIVE)
			*map_insert(map, old.slots[i].a, old.slots[i].b, NULL) = old.slots[i].value;
	free(old.slots);
	free(old.state);
}

uint64_t *map_insert(struct map *map, uint64_t a, uint64_t b, bool *fresh)
{
	uint64_t *found = map_find(map, a, b);
	size_t i;

	if (fresh)
		*fresh = !found;
	if (found)
		return found;
	if ((map->filled + 1) * 4 > map->cap * 3)
		rehash(map,
		       map->used * 2 >= map->cap / 2 ? (map->cap ? map->cap * 2 : 64) : map->cap);
	i = hash(a, b) & (map->cap - 1);
	while (map->state[i] == SLOT_LIVE)
		i = (i + 1) & (map->cap - 1);
	if (map->state[i] == SLOT_EMPTY)
		map->filled++;
	map->used++;
	map->state[i] = SLOT_LIVE;
	map->slots[i] = (struct map_slot){ a, b, 0 };
	return &map->slots[i].value;
}

bool map_remove(struct map *map, uint64_t a, uint64_t b)
{
	uint64_t *value = map_find(map, a, b);
	struct map_slot *slot;

	if (!value)
		return false;
	slot = (struct map_slot *)((char *)value - offsetof(struct map_slot, value));
	map->state[slot - map->slots] = SLOT_DELETED;
	map->used--;
	return true;
}

size_t map_remove_all(struct map *map, uint64_t a)
{
	size_t before = map->used;

	for (size_t i = 0; i < map->cap; i++) {
		if (map->state[i] != SLOT_LIVE || map->slots[i].a != a)
			continue;
		map->state[i] = SLOT_DELETED;
		map->used--;
	}
	return before - map->used;
}

struct map_slot *map_next(const struct map *map, size_t *pos)
{
	while (*pos < map->cap) {
		size_t i = (*pos)++;

		if (map->state[i] == SLOT_LIVE)
			return &map->slots[i];
	}
	return NULL;
}
