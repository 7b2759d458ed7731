/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hash map from a pair of u64 to a u64, open addressing. (b = 0 where one word is the whole key.)
 * A failed allocation ends the program (alloc.h).
 */
#ifndef UCXBPF_BASE_MAP_H
#define UCXBPF_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot {
	uint64_t a, b, value;
	uint32_t state; /* of the map's own: in the line of memory that a search looks at */
};

struct map {
	struct map_slot *slots;
	size_t cap; /* power of two, 0 before the first insert */
	size_t used; /* live entries */
	size_t filled; /* live and deleted ones */
};

/* A zeroed struct map is an empty map. */
void map_release(struct map *map);

/* A hash of a text, to be used as a key; 0 for NULL. */
uint64_t map_text(const char *text);

/* Returns the address of the value, or NULL; valid until the next insert. */
uint64_t *map_find(const struct map *map, uint64_t a, uint64_t b);

/* Returns the address of the value; a new entry's value is 0 and *fresh true (fresh may be NULL).
 */
uint64_t *map_insert(struct map *map, uint64_t a, uint64_t b, bool *fresh);

/* Returns whether the key was there. */
bool map_remove(struct map *map, uint64_t a, uint64_t b);

/* Removes every entry whose first word is a; returns how many. */
size_t map_remove_all(struct map *map, uint64_t a);

/* Iterates: start with *pos = 0; returns NULL at the end. The map must not grow meanwhile. */
struct map_slot *map_next(const struct map *map, size_t *pos);

#endif
