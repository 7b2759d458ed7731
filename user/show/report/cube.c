// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/cube.h"

#include <string.h>

void cube_init(struct cube *cube, const struct cube_shape *shape)
{
	*cube = (struct cube){ .shape = shape };
}

void cube_release(struct cube *cube)
{
	vec_release(&cube->rows);
	free(cube->slots);
	cube->slots = NULL;
	cube->slot_count = 0;
}

static size_t hash(const uint64_t *key, int count)
{
	uint64_t h = 0;

	for (int i = 0; i < count; i++)
		h = ((h << 23 | h >> 41) ^ key[i]) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 32;
}

static bool same(const uint64_t *a, const uint64_t *b, int count)
{
	uint64_t differ = 0;

	for (int i = 0; i < count; i++)
		differ |= a[i] ^ b[i];
	return !differ;
}

/* The slot of this key, or the free one where it belongs. */
static uint32_t *locate(const struct cube *cube, const uint64_t *key)
{
	int count = cube->shape->count;
	size_t mask = cube->slot_count - 1, i = hash(key, count) & mask;

	while (cube->slots[i] && !same(cube->rows.data[cube->slots[i] - 1].key, key, count))
		i = (i + 1) & mask;
	return &cube->slots[i];
}

static void grow(struct cube *cube)
{
	size_t room = 0;

	free(cube->slots);
	cube->slot_count = cube->slot_count ? cube->slot_count * 2 : 256;
	cube->slots = vec_grow(NULL, &room, cube->slot_count, sizeof(*cube->slots));
	memset(cube->slots, 0, cube->slot_count * sizeof(*cube->slots));
	for (size_t i = 0; i < cube->rows.len; i++)
		*locate(cube, cube->rows.data[i].key) = i + 1;
}

struct cube_row *cube_at(struct cube *cube, const uint64_t *key)
{
	struct cube_row *row;
	uint32_t *slot;

	if (cube->rows.len * 2 >= cube->slot_count)
		grow(cube);
	slot = locate(cube, key);
	if (*slot)
		return &cube->rows.data[*slot - 1];
	row = vec_add(&cube->rows);
	memcpy(row->key, key, cube->shape->count * sizeof(*key));
	*slot = cube->rows.len;
	return row;
}

const struct cube_row *cube_find(const struct cube *cube, const uint64_t *key)
{
	const uint32_t *slot = cube->slot_count ? locate(cube, key) : NULL;

	return slot && *slot ? &cube->rows.data[*slot - 1] : NULL;
}

static void add_time(struct cube_sums *to, const struct cube_sums *from)
{
	if (!from->timed)
		return;
	if (!to->timed || from->time_min < to->time_min)
		to->time_min = from->time_min;
	if (from->time_max > to->time_max)
		to->time_max = from->time_max;
	to->timed += from->timed;
	to->time_sum += from->time_sum;
	to->precisions |= from->precisions;
}

void cube_sums_add(struct cube_sums *to, const struct cube_sums *from)
{
	to->count += from->count;
	to->bytes += from->bytes;
	to->bytes_unknown += from->bytes_unknown;
	to->wire_bytes += from->wire_bytes;
	to->unexplained_bytes += from->unexplained_bytes;
	to->retries += from->retries;
	to->errors += from->errors;
	to->unchecked += from->unchecked;
	to->ops += from->ops;
	to->copies += from->copies;
	to->copy_bytes += from->copy_bytes;
	add_time(to, from);
}

void cube_sums_time(struct cube_sums *sums, uint64_t start, uint64_t end,
		    enum fact_precision precision)
{
	uint64_t time = end - start;

	if (!end || end < start || precision == TIME_UNKNOWN)
		return;
	add_time(sums, &(struct cube_sums){ .timed = 1,
					    .time_sum = time,
					    .time_min = time,
					    .time_max = time,
					    .precisions = 1u << precision });
}

void cube_sums_timed(struct cube_sums *sums, uint64_t timed, uint64_t time_sum,
		     enum fact_precision precision)
{
	add_time(sums, &(struct cube_sums){ .timed = timed,
					    .time_sum = time_sum,
					    .time_min = UINT64_MAX,
					    .precisions = 1u << precision });
}
