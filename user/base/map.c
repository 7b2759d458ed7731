// SPDX-License-Identifier: BSD-3-Clause
#include "base/map.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"

/* A live slot's state has bits of its key's hash: slots of other keys are seldom looked at. */
enum { SLOT_EMPTY, SLOT_DELETED, SLOT_LIVE = 0x80 };

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

static uint64_t hash(uint64_t a, uint64_t b)
{
	uint64_t h = a * 0x9e3779b97f4a7c15u ^ (b + 0x7f4a7c15u) * 0xc2b2ae3d27d4eb4fu;

	h ^= h >> 29;
	h *= 0xbf58476d1ce4e5b9u;
	return h ^ h >> 32;
}

static unsigned char state_of(uint64_t hash)
{
	return (unsigned char)(SLOT_LIVE | hash >> 57);
}

static uint64_t *find(const struct map *map, uint64_t hash, uint64_t a, uint64_t b)
{
	const unsigned char state = state_of(hash);
	const size_t mask = map->cap - 1;

	if (!map->cap)
		return NULL;
	for (size_t i = hash & mask; map->state[i] != SLOT_EMPTY; i = (i + 1) & mask)
		if (map->state[i] == state && map->slots[i].a == a && map->slots[i].b == b)
			return &map->slots[i].value;
	return NULL;
}

uint64_t *map_find(const struct map *map, uint64_t a, uint64_t b)
{
	return find(map, hash(a, b), a, b);
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
		if (old.state[i] & SLOT_LIVE)
			*map_insert(map, old.slots[i].a, old.slots[i].b, NULL) = old.slots[i].value;
	free(old.slots);
	free(old.state);
}

uint64_t *map_insert(struct map *map, uint64_t a, uint64_t b, bool *fresh)
{
	const uint64_t key = hash(a, b);
	uint64_t *found = find(map, key, a, b);
	size_t i;

	if (fresh)
		*fresh = !found;
	if (found)
		return found;
	if ((map->filled + 1) * 4 > map->cap * 3)
		rehash(map,
		       map->used * 2 >= map->cap / 2 ? (map->cap ? map->cap * 2 : 64) : map->cap);
	i = key & (map->cap - 1);
	while (map->state[i] & SLOT_LIVE)
		i = (i + 1) & (map->cap - 1);
	if (map->state[i] == SLOT_EMPTY)
		map->filled++;
	map->used++;
	map->state[i] = state_of(key);
	map->slots[i] = (struct map_slot){ a, b, 0 };
	return &map->slots[i].value;
}

/* Removed slots that no search goes on behind are free at once. */
static void free_slots(struct map *map, size_t last)
{
	const size_t mask = map->cap - 1;

	if (map->state[(last + 1) & mask] != SLOT_EMPTY)
		return;
	for (; map->state[last] == SLOT_DELETED; last = (last - 1) & mask) {
		map->state[last] = SLOT_EMPTY;
		map->filled--;
	}
}

bool map_remove(struct map *map, uint64_t a, uint64_t b)
{
	uint64_t *value = map_find(map, a, b);
	size_t i;

	if (!value)
		return false;
	i = (size_t)((struct map_slot *)((char *)value - offsetof(struct map_slot, value)) -
		     map->slots);
	map->state[i] = SLOT_DELETED;
	map->used--;
	free_slots(map, i);
	return true;
}

size_t map_remove_all(struct map *map, uint64_t a)
{
	size_t before = map->used;

	for (size_t i = 0; i < map->cap; i++) {
		if (!(map->state[i] & SLOT_LIVE) || map->slots[i].a != a)
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

		if (map->state[i] & SLOT_LIVE)
			return &map->slots[i];
	}
	return NULL;
}
