// SPDX-License-Identifier: BSD-3-Clause
#include "base/map.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"

/* Bit 0 of a live slot's state is set, the others are its hash's: other keys are seldom looked at.
 */
enum { SLOT_EMPTY, SLOT_LIVE, SLOT_DELETED };

uint64_t map_text(const char *text)
{
	return text ? XXH3_64bits(text, strlen(text)) : 0;
}

void map_release(struct map *map)
{
	free(map->slots);
	*map = (struct map){ 0 };
}

static uint64_t hash(uint64_t a, uint64_t b)
{
	const unsigned __int128 product =
		(unsigned __int128)(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xc2b2ae3d27d4eb4fu);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint32_t state_of(uint64_t hash)
{
	return (uint32_t)(hash >> 32) | SLOT_LIVE;
}

static bool is_live(const struct map_slot *slot)
{
	return slot->state & SLOT_LIVE;
}

/* Inlined: most of what a report takes for its look-ups would be calls. */
static inline struct map_slot *find(const struct map *map, uint64_t hash, uint64_t a, uint64_t b)
{
	const uint32_t state = state_of(hash);
	const size_t mask = map->cap - 1;

	if (!map->cap)
		return NULL;
	for (size_t i = hash & mask; map->slots[i].state != SLOT_EMPTY; i = (i + 1) & mask) {
		struct map_slot *slot = &map->slots[i];

		if (slot->state == state && slot->a == a && slot->b == b)
			return slot;
	}
	return NULL;
}

uint64_t *map_find(const struct map *map, uint64_t a, uint64_t b)
{
	struct map_slot *slot = find(map, hash(a, b), a, b);

	return slot ? &slot->value : NULL;
}

static void rehash(struct map *map, size_t cap)
{
	struct map old = *map;

	map->slots = xcalloc(cap, sizeof(*map->slots));
	map->cap = cap;
	map->used = 0;
	map->filled = 0;
	for (size_t i = 0; i < old.cap; i++)
		if (is_live(&old.slots[i]))
			*map_insert(map, old.slots[i].a, old.slots[i].b, NULL) = old.slots[i].value;
	free(old.slots);
}

uint64_t *map_insert(struct map *map, uint64_t a, uint64_t b, bool *fresh)
{
	const uint64_t key = hash(a, b);
	struct map_slot *found = find(map, key, a, b);
	size_t i;

	if (fresh)
		*fresh = !found;
	if (found)
		return &found->value;
	if ((map->filled + 1) * 4 > map->cap * 3)
		rehash(map,
		       map->used * 2 >= map->cap / 2 ? (map->cap ? map->cap * 2 : 64) : map->cap);
	i = key & (map->cap - 1);
	while (is_live(&map->slots[i]))
		i = (i + 1) & (map->cap - 1);
	if (map->slots[i].state == SLOT_EMPTY)
		map->filled++;
	map->used++;
	map->slots[i] = (struct map_slot){ .a = a, .b = b, .state = state_of(key) };
	return &map->slots[i].value;
}

/* Removed slots that no search goes on behind are free at once. */
static void free_slots(struct map *map, size_t last)
{
	const size_t mask = map->cap - 1;

	if (map->slots[(last + 1) & mask].state != SLOT_EMPTY)
		return;
	for (; map->slots[last].state == SLOT_DELETED; last = (last - 1) & mask) {
		map->slots[last].state = SLOT_EMPTY;
		map->filled--;
	}
}

bool map_remove(struct map *map, uint64_t a, uint64_t b)
{
	struct map_slot *slot = find(map, hash(a, b), a, b);

	if (!slot)
		return false;
	slot->state = SLOT_DELETED;
	map->used--;
	free_slots(map, (size_t)(slot - map->slots));
	return true;
}

size_t map_remove_all(struct map *map, uint64_t a)
{
	size_t before = map->used;

	for (size_t i = 0; i < map->cap; i++) {
		if (!is_live(&map->slots[i]) || map->slots[i].a != a)
			continue;
		map->slots[i].state = SLOT_DELETED;
		map->used--;
	}
	return before - map->used;
}

struct map_slot *map_next(const struct map *map, size_t *pos)
{
	while (*pos < map->cap) {
		struct map_slot *slot = &map->slots[(*pos)++];

		if (is_live(slot))
			return slot;
	}
	return NULL;
}
