// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/cube.h"

#include <assert.h>
#include <string.h>

#include "base/map.h"
#include "base/order.h"
#include "show/report/words.h"

void cube_init(struct cube *cube, const struct cube_shape *shape)
{
	*cube = (struct cube){ .shape = shape };
}

void cube_release(struct cube *cube)
{
	vec_release(&cube->rows);
	rowset_release(&cube->index);
}

void cube_bind(struct cube *cube, enum fact_type type)
{
	const struct fact_column *columns = fact_infos[type].columns;

	for (int key = 0; key < cube->shape->count; key++) {
		int i = 0;

		while (columns[i].name && strcmp(columns[i].name, cube->shape->keys[key].name))
			i++;
		assert(columns[i].name);
		cube->from[key] = key_at(&columns[i]);
	}
}

static struct rowset_rows cube_rows(const struct cube *cube)
{
	return ROWSET_ROWS(&cube->rows, cube->shape->count * sizeof(uint64_t));
}

struct cube_row *cube_at(struct cube *cube, const uint64_t *key)
{
	size_t n = rowset_add(&cube->index, cube_rows(cube), key);

	if (n == cube->rows.len)
		memcpy(vec_add(&cube->rows)->key, key, cube->shape->count * sizeof(*key));
	return &cube->rows.data[n];
}

const struct cube_row *cube_find(const struct cube *cube, const uint64_t *key)
{
	size_t n = rowset_find(&cube->index, cube_rows(cube), key);

	return n < cube->rows.len ? &cube->rows.data[n] : NULL;
}

/* So many durations. */
struct timed {
	uint64_t count, sum, min, max;
	uint32_t precisions;
};

static inline void add_timed(struct cube_sums *to, struct timed timed)
{
	if (!timed.count)
		return;
	if (!to->timed || timed.min < to->time_min)
		to->time_min = timed.min;
	if (timed.max > to->time_max)
		to->time_max = timed.max;
	to->timed += timed.count;
	to->time_sum += timed.sum;
	to->precisions |= timed.precisions;
}

static void add_exact(struct cube_sums *sums, uint64_t count, uint64_t time, uint64_t bytes)
{
	sums->exact += count;
	sums->exact_time += time;
	sums->exact_bytes += bytes == UINT64_MAX ? 0 : bytes;
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
	to->ops_unknown += from->ops_unknown;
	to->copies += from->copies;
	to->copy_bytes += from->copy_bytes;
	to->time_most += from->time_most;
	to->unbounded += from->unbounded;
	add_timed(to, (struct timed){ from->timed, from->time_sum, from->time_min, from->time_max,
				      from->precisions });
	add_exact(to, from->exact, from->exact_time, from->exact_bytes);
}

void cube_sums_time(struct cube_sums *sums, uint64_t start, uint64_t end,
		    enum fact_precision precision, uint64_t bytes)
{
	uint64_t time = end - start;

	if (!end || end < start || precision == TIME_UNKNOWN)
		return;
	add_timed(sums, (struct timed){ 1, time, time, time, 1u << precision });
	if (fact_is_exact(precision))
		add_exact(sums, 1, time, bytes);
}

void cube_sums_timed(struct cube_sums *sums, uint64_t timed, uint64_t time_sum,
		     enum fact_precision precision, uint64_t bytes)
{
	add_timed(sums, (struct timed){ timed, time_sum, UINT64_MAX, 0, 1u << precision });
	if (fact_is_exact(precision))
		add_exact(sums, timed, time_sum, bytes);
}

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

/* The first row whose keys are not below prefix (above = 0), or are above it (above = 1). */
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

struct texts {
	struct map canonical; /* pointer -> the pointer that represents its text */
	VEC(const char *) all;
};

static uint64_t same_text(struct texts *texts, const char *text)
{
	for (size_t i = 0; i < texts->all.len; i++)
		if (!strcmp(texts->all.data[i], text))
			return (uintptr_t)texts->all.data[i];
	vec_push(&texts->all, text);
	return (uintptr_t)text;
}

static uint64_t canonical(struct texts *texts, uint64_t word)
{
	uint64_t *found;

	if (!word)
		return 0;
	found = map_insert(&texts->canonical, word, 0, NULL);
	if (!*found)
		*found = same_text(texts, (const char *)(uintptr_t)word);
	return *found;
}

void cube_join(struct cube *cube)
{
	const struct cube_shape *shape = cube->shape;
	struct texts texts = { 0 };
	struct cube joined;

	cube_init(&joined, shape);
	memcpy(joined.from, cube->from, sizeof(joined.from));
	for (size_t r = 0; r < cube->rows.len; r++) {
		struct cube_row *row = &cube->rows.data[r];

		for (int i = 0; i < shape->count; i++)
			if (shape->keys[i].type == CUBE_STRING || shape->keys[i].type == CUBE_LIST)
				row->key[i] = canonical(&texts, row->key[i]);
		cube_sums_add(&cube_at(&joined, row->key)->sums, &row->sums);
	}
	cube_release(cube);
	*cube = joined;
	map_release(&texts.canonical);
	vec_release(&texts.all);
}
