// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/durations.h"

#include <stdlib.h>

#include "base/alloc.h"

void durations_init(struct durations *durations, const struct cube_shape *shape,
		    const unsigned char *from)
{
	*durations = (struct durations){ .from = from };
	cube_init(&durations->rows, shape);
}

void durations_release(struct durations *durations)
{
	for (size_t i = 0; i < durations->spreads.len; i++)
		free(durations->spreads.data[i]);
	vec_release(&durations->spreads);
	cube_release(&durations->rows);
}

/* 1 + the position of its spread; 0: there is no more room. */
static uint32_t place_of(struct durations *durations, const uint64_t *row)
{
	uint64_t key[CUBE_MAX_KEYS];
	const struct cube_row *at;

	for (int i = 0; i < durations->rows.shape->count; i++)
		key[i] = row[durations->from[i]];
	at = cube_find(&durations->rows, key);
	if (!at && durations->spreads.len == DURATIONS_MOST)
		return 0;
	if (!at) {
		at = cube_at(&durations->rows, key);
		vec_push(&durations->spreads, xcalloc(1, sizeof(struct spread)));
	}
	return 1 + (uint32_t)(at - durations->rows.rows.data);
}

void durations_add(struct durations *durations, struct cube_row *row, uint64_t ns)
{
	if (!row->sums.durations)
		row->sums.durations = place_of(durations, row->key);
	if (row->sums.durations)
		spread_add(durations->spreads.data[row->sums.durations - 1], ns);
}

void durations_join(struct durations *to, const struct durations *others)
{
	for (size_t i = 0; i < others->spreads.len; i++) {
		const uint32_t place = place_of(to, others->rows.rows.data[i].key);

		if (place)
			spread_join(to->spreads.data[place - 1], others->spreads.data[i]);
	}
}

const struct spread *durations_of(const struct durations *durations, const uint64_t *key)
{
	const struct cube_row *row = cube_find(&durations->rows, key);

	return row ? durations->spreads.data[row - durations->rows.rows.data] : NULL;
}
