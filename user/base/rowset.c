// SPDX-License-Identifier: BSD-3-Clause
#include "base/rowset.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"

void rowset_release(struct rowset *set)
{
	free(set->slots);
	*set = (struct rowset){ 0 };
}

static const void *row_at(const struct rowset_rows *rows, size_t number)
{
	return (const char *)rows->data + number * rows->size;
}

/* The slot of this key, or the free one where it belongs. */
static uint32_t *rowset_slot(const struct rowset *set, const struct rowset_rows *rows,
			     const void *key)
{
	size_t mask = set->slot_count - 1, i = XXH3_64bits(key, rows->key) & mask;

	while (set->slots[i] && memcmp(row_at(rows, set->slots[i] - 1), key, rows->key))
		i = (i + 1) & mask;
	return &set->slots[i];
}

static void rowset_grow(struct rowset *set, const struct rowset_rows *rows)
{
	free(set->slots);
	do
		set->slot_count = set->slot_count ? set->slot_count * 2 : 256;
	while (rows->len * 2 >= set->slot_count);
	set->slots = xcalloc(set->slot_count, sizeof(*set->slots));
	for (size_t i = 0; i < rows->len; i++)
		*rowset_slot(set, rows, row_at(rows, i)) = (uint32_t)i + 1;
}

size_t rowset_add(struct rowset *set, struct rowset_rows rows, const void *key)
{
	uint32_t *slot;

	if (rows.len * 2 >= set->slot_count)
		rowset_grow(set, &rows);
	slot = rowset_slot(set, &rows, key);
	if (!*slot)
		*slot = (uint32_t)rows.len + 1;
	return *slot - 1;
}

size_t rowset_find(const struct rowset *set, struct rowset_rows rows, const void *key)
{
	const uint32_t *slot = set->slot_count ? rowset_slot(set, &rows, key) : NULL;

	return slot && *slot ? *slot - 1 : rows.len;
}
