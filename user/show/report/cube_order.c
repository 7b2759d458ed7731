// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/cube.h"

#include <string.h>

#include "base/search.h"

const char *cube_key_text(const struct cube_key *key, uint64_t word)
{
	switch (key->type) {
	case CUBE_LOCALITY:
		return fact_locality_names[word];
	case CUBE_KIND:
		return fact_kind_names[word];
	case CUBE_STRING:
	case CUBE_LIST:
		return word ? (const char *)(uintptr_t)word : key->absent;
	case CUBE_PROCESS:
		break;
	}
	return key->absent;
}

static uint64_t absent_word(enum cube_key_type type)
{
	return type == CUBE_PROCESS ? (uint64_t)-1 : 0;
}

static int key_named(const struct cube_shape *shape, const char *name)
{
	for (int i = 0; i < shape->count; i++)
		if (!strcmp(shape->keys[i].name, name))
			return i;
	return -1;
}

void cube_rollup(struct cube *to, const struct cube *from)
{
	int from_key[CUBE_MAX_KEYS];

	for (int i = 0; i < to->shape->count; i++)
		from_key[i] = key_named(from->shape, to->shape->keys[i].name);
	for (size_t r = 0; r < from->rows.len; r++) {
		const struct cube_row *row = &from->rows.data[r];
		uint64_t key[CUBE_MAX_KEYS];

		for (int i = 0; i < to->shape->count; i++)
			key[i] = from_key[i] < 0 ? absent_word(to->shape->keys[i].type)
						 : row->key[from_key[i]];
		cube_sums_add(&cube_at(to, key)->sums, &row->sums);
	}
}

static int order_words(enum cube_key_type type, uint64_t a, uint64_t b)
{
	if (a == b)
		return 0;
	if (type == CUBE_STRING || type == CUBE_LIST) {
		if (!a || !b)
			return a ? 1 : -1;
		return strcmp((const char *)(uintptr_t)a, (const char *)(uintptr_t)b);
	}
	return (int64_t)a < (int64_t)b ? -1 : 1;
}

static int order_keys(const struct cube_shape *shape, const uint64_t *a, const uint64_t *b,
		      int words)
{
	int order = 0;

	for (int i = 0; !order && i < words; i++)
		order = order_words(shape->keys[i].type, a[i], b[i]);
	return order;
}

static int by_keys(const void *left, const void *right, void *arg)
{
	const struct cube_row *a = *(const struct cube_row *const *)left;
	const struct cube_row *b = *(const struct cube_row *const *)right;
	const struct cube_shape *shape = arg;

	return order_keys(shape, a->key, b->key, shape->count);
}

static int descending(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

static int by_bytes(const void *left, const void *right, void *arg)
{
	const struct cube_row *a = *(const struct cube_row *const *)left;
	const struct cube_row *b = *(const struct cube_row *const *)right;
	int order = descending(a->sums.bytes, b->sums.bytes);

	if (!order)
		order = descending(a->sums.count, b->sums.count);
	return order ? order : by_keys(left, right, arg);
}

static int by_time(const void *left, const void *right, void *arg)
{
	const struct cube_row *a = *(const struct cube_row *const *)left;
	const struct cube_row *b = *(const struct cube_row *const *)right;
	int order = descending(a->sums.time_sum, b->sums.time_sum);

	return order ? order : by_bytes(left, right, arg);
}

void cube_sort(const struct cube *cube, const struct cube_row **rows, size_t count,
	       enum cube_order order)
{
	static int (*const orders[])(const void *, const void *, void *) = {
		[CUBE_BY_KEYS] = by_keys,
		[CUBE_BY_BYTES] = by_bytes,
		[CUBE_BY_TIME] = by_time,
	};

	qsort_r(rows, count, sizeof(*rows), orders[order], (void *)cube->shape);
}

const struct cube_row **cube_sorted(const struct cube *cube, enum cube_order order)
{
	const struct cube_row **rows;
	size_t room = 0;

	rows = vec_grow(NULL, &room, cube->rows.len + 1, sizeof(*rows));
	for (size_t i = 0; i < cube->rows.len; i++)
		rows[i] = &cube->rows.data[i];
	cube_sort(cube, rows, cube->rows.len, order);
	return rows;
}

/* The first row whose keys are not below prefix (above = 0), or that are above it (above = 1). */
static size_t bound(const struct cube *cube, const struct cube_row **sorted, const uint64_t *prefix,
		    int words, int above)
{
	return search_count(cube->rows.len, at,
			    order_keys(cube->shape, sorted[at]->key, prefix, words) < above);
}

const struct cube_row **cube_prefix(const struct cube *cube, const struct cube_row **sorted,
				    const uint64_t *prefix, int words, size_t *count)
{
	size_t first = bound(cube, sorted, prefix, words, 0);

	*count = bound(cube, sorted, prefix, words, 1) - first;
	return sorted + first;
}
