// SPDX-License-Identifier: BSD-3-Clause
/* Whether two nodes send to each other the same way: PATH-12. */
#include "judge/rules.h"

#define SOME 0.05 /* of the bytes: less is no way that messages go */

/* What one node sent to another. */
struct direction {
	const struct node *from, *to;
	uint64_t bytes;
	VEC(struct over {
		const char *transport;
		uint64_t bytes;
		const struct cell *cell; /* one of them */
	})
	ways;
};

struct directions {
	VEC(struct direction) list;
	struct map index; /* (from, to) -> 1 + position */
};

static struct direction *direction_find(const struct directions *directions,
					const struct node *from, const struct node *to)
{
	const uint64_t *at = map_find(&directions->index, (uintptr_t)from, (uintptr_t)to);

	return at ? &directions->list.data[*at - 1] : NULL;
}

static struct direction *direction_at(struct directions *directions, const struct node *from,
				      const struct node *to)
{
	uint64_t *at = map_insert(&directions->index, (uintptr_t)from, (uintptr_t)to, NULL);

	if (!*at) {
		vec_push(&directions->list, ((struct direction){ .from = from, .to = to }));
		*at = directions->list.len;
	}
	return &directions->list.data[*at - 1];
}

static const struct over *over_find(const struct direction *direction, const char *transport)
{
	for (size_t i = 0; i < direction->ways.len; i++)
		if (direction->ways.data[i].transport == transport)
			return &direction->ways.data[i];
	return NULL;
}

static void add_cell(struct direction *direction, const struct cell *cell)
{
	struct over *over = (struct over *)over_find(direction, cell->transport);

	if (!over) {
		over = vec_add(&direction->ways);
		over->transport = cell->transport;
		over->cell = cell;
	}
	over->bytes += cell->bytes;
	direction->bytes += cell->bytes;
}

static void collect(const struct exhibits *exhibits, struct directions *directions)
{
	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];
		const struct node *from = exhibits_node(exhibits, cell->process);
		const struct node *to = exhibits_node(exhibits, cell->peer);

		if (cell_inter(cell) && from && to)
			add_cell(direction_at(directions, from, to), cell);
	}
}

/* A way of which the other direction has nothing; NULL: there is none. */
static const struct cell *one_way(const struct direction *there, const struct direction *back)
{
	for (size_t i = 0; i < there->ways.len; i++) {
		const struct over *over = &there->ways.data[i];
		const struct over *same = over_find(back, over->transport);

		if (over->bytes > SOME * there->bytes && (!same || !same->bytes))
			return over->cell;
	}
	return NULL;
}

static void judge_pair(const struct trial *trial, const struct direction *there,
		       const struct direction *back)
{
	const struct cell *cell = one_way(there, back);
	const struct direction *only = cell ? there : back;
	struct finding *finding;

	cell = cell ? cell : one_way(back, there);
	finding = found(trial, cell ? VERDICT_FAIL : VERDICT_PASS,
			say(trial->judge, "%s<>%s", there->from->name, there->to->name));
	finding->expected = "the same transports in both directions";
	if (cell)
		finding->seen = say(trial->judge, "only %s>%s: %s", only->from->name,
				    only->to->name, cell_text(trial, cell));
}

void rule_symmetric(const struct trial *trial)
{
	size_t before = trial->judge->findings.len;
	struct directions directions = { 0 };

	collect(trial->exhibits, &directions);
	for (size_t i = 0; i < directions.list.len; i++) {
		const struct direction *there = &directions.list.data[i];
		const struct direction *back = direction_find(&directions, there->to, there->from);

		if (there->from < there->to && back && there->bytes && back->bytes)
			judge_pair(trial, there, back);
	}
	if (before == trial->judge->findings.len)
		found_nothing(trial, VERDICT_SKIP, "no two nodes exchanged data");
	for (size_t i = 0; i < directions.list.len; i++)
		vec_release(&directions.list.data[i].ways);
	vec_release(&directions.list);
	map_release(&directions.index);
}
