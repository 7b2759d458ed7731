// SPDX-License-Identifier: BSD-3-Clause
#include <string.h>

#include "base/map.h"
#include "show/report/cube.h"

struct texts {
	struct map canonical; /* pointer -> the pointer that stands for its text */
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
