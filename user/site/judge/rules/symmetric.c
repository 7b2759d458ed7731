// SPDX-License-Identifier: BSD-3-Clause
/* PATH-12: whether two nodes send to each other the same way. */
#include "site/judge/rules/rules.h"

#define SOME 0.05 /* of the bytes: less is no way that messages go */

/* The traffic of one direction. */
struct direction {
	uint64_t ends[2];
	const struct node *from, *to;
	uint64_t bytes, unknown; /* unknown: over a transport that is not known, in no way */
	VEC(struct over {
		const char *word; /* a transport, or a device */
		uint64_t bytes;
		const struct traffic_cell *cell; /* one of them */
	})
	list;
};

struct directions {
	VEC(struct direction) list;
	struct map index; /* (from, to) -> 1 + position */
};

static struct direction *direction_find(const struct directions *directions, uint64_t from,
					uint64_t to)
{
	const uint64_t *at = map_find(&directions->index, from, to);

	return at ? &directions->list.data[*at - 1] : NULL;
}

static struct direction *direction_at(struct directions *directions, uint64_t from, uint64_t to)
{
	uint64_t *at = map_insert(&directions->index, from, to, NULL);

	if (!*at) {
		vec_push(&directions->list, ((struct direction){ .ends = { from, to } }));
		*at = directions->list.len;
	}
	return &directions->list.data[*at - 1];
}

static void directions_release(struct directions *directions)
{
	for (size_t i = 0; i < directions->list.len; i++)
		vec_release(&directions->list.data[i].list);
	vec_release(&directions->list);
	map_release(&directions->index);
}

static struct over *over_find(const struct direction *direction, const char *word)
{
	for (size_t i = 0; i < direction->list.len; i++)
		if (direction->list.data[i].word == word)
			return &direction->list.data[i];
	return NULL;
}

static void add_cell(struct direction *direction, const struct traffic_cell *cell, const char *word)
{
	struct over *over = over_find(direction, word);

	if (!over) {
		over = vec_add(&direction->list);
		over->word = word;
		over->cell = cell;
	}
	over->bytes += cell->bytes;
	direction->bytes += cell->bytes;
}

/* ---- transports, of two nodes ---- */

static void collect_transports(const struct aggregates *aggregates, struct directions *directions)
{
	for (size_t i = 0; i < aggregates->cells.len; i++) {
		const struct traffic_cell *cell = &aggregates->cells.data[i];
		const struct node *from = aggregates_node(aggregates, cell->process);
		const struct node *to = aggregates_node(aggregates, cell->peer);
		struct direction *direction;

		if (!cell_inter(cell) || !from || !to)
			continue;
		direction = direction_at(directions, (uintptr_t)from, (uintptr_t)to);
		direction->from = from;
		direction->to = to;
		if (cell->transport)
			add_cell(direction, cell, cell->transport);
		else
			direction->unknown += cell->bytes;
	}
}

/* A transport that the other direction does not use; NULL: none. */
static const struct traffic_cell *one_way(const struct direction *there,
					  const struct direction *back)
{
	for (size_t i = 0; i < there->list.len; i++) {
		const struct over *over = &there->list.data[i];
		const struct over *same = over_find(back, over->word);

		if (over->bytes > SOME * there->bytes && (!same || !same->bytes))
			return over->cell;
	}
	return NULL;
}

static const char *transports_text(const struct rule_ctx *ctx, const struct direction *there,
				   const struct direction *back)
{
	const struct traffic_cell *cell = one_way(there, back);
	const struct direction *only = cell ? there : back;

	cell = cell ? cell : one_way(back, there);
	return cell ? say(ctx->judge, "only %s>%s: %s", only->from->name, only->to->name,
			  cell_text(ctx, cell))
		    : NULL;
}

/* ---- rails, of two processes ---- */

/* A process, and the kind of messages: only those of the same memories are alike. */
static uint64_t end_of(const struct traffic_cell *cell, int process)
{
	return (uint64_t)(uint32_t)process << 2 | (uint64_t)is_gpu(cell->src_mem) << 1 |
	       (uint64_t)is_gpu(cell->dst_mem);
}

/* By process: several processes of a node may have a NIC each. */
static void collect_rails(const struct rule_ctx *ctx, struct directions *directions)
{
	const struct aggregates *aggregates = ctx->aggregates;

	for (size_t i = 0; i < aggregates->cells.len; i++) {
		const struct traffic_cell *cell = &aggregates->cells.data[i];
		const struct node *from = aggregates_node(aggregates, cell->process);
		const struct node *to = aggregates_node(aggregates, cell->peer);
		struct direction *direction;

		if (!cell_over_nic(cell) || !from || !to ||
		    !cell_at_least(aggregates, cell, ctx->settings->path_12.size))
			continue;
		direction = direction_at(directions, end_of(cell, cell->process),
					 end_of(cell, cell->peer));
		direction->from = from;
		direction->to = to;
		add_cell(direction, cell, cell->device);
	}
}

static size_t rails_of(const struct direction *direction)
{
	size_t count = 0;

	for (size_t i = 0; i < direction->list.len; i++)
		count += direction->list.data[i].bytes > SOME * direction->bytes;
	return count;
}

static const char *rails_text(const struct rule_ctx *ctx, const struct direction *there,
			      const struct direction *back)
{
	size_t one = rails_of(there), other = rails_of(back);

	if (one == other)
		return NULL;
	return say(ctx->judge, "%s>%s over %zu NIC%s, %s>%s over %zu", there->from->name,
		   there->to->name, one, one == 1 ? "" : "s", back->from->name, back->to->name,
		   other);
}

/* (node, node), the first one first -> a text that is kept. */
static struct map uneven_rails(const struct rule_ctx *ctx)
{
	struct directions directions = { 0 };
	struct map uneven = { 0 };

	collect_rails(ctx, &directions);
	for (size_t i = 0; i < directions.list.len; i++) {
		const struct direction *there = &directions.list.data[i];
		const struct direction *back =
			direction_find(&directions, there->ends[1], there->ends[0]);
		const char *text =
			back && there->from < there->to ? rails_text(ctx, there, back) : NULL;

		if (text)
			*map_insert(&uneven, (uintptr_t)there->from, (uintptr_t)there->to, NULL) =
				(uintptr_t)text;
	}
	directions_release(&directions);
	return uneven;
}

/* ---- both ---- */

/* The bytes that one direction has more may have been lost in the other one. */
static bool may_be_lost(const struct rule_ctx *ctx, const struct direction *there)
{
	const struct judge *judge = ctx->judge;

	return judge->incomplete || losses_has(&judge->losses, there->from->name) ||
	       losses_has(&judge->losses, there->to->name);
}

/* Much of it may have gone any way. */
static bool unknown(const struct direction *direction)
{
	return direction->unknown > SOME * (direction->bytes + direction->unknown);
}

static void judge_pair(const struct rule_ctx *ctx, const struct direction *there,
		       const struct direction *back, const struct map *uneven)
{
	const uint64_t *rails = map_find(uneven, (uintptr_t)there->from, (uintptr_t)there->to);
	const char *seen = transports_text(ctx, there, back);
	struct finding *finding;

	if (!seen && rails)
		seen = (const char *)(uintptr_t)*rails;
	finding = found(ctx, seen ? VERDICT_FAIL : VERDICT_PASS,
			subject_pair(ctx->judge, there->from->name, there->to->name));
	finding->expected =
		"the same transports in both directions, large messages over as many NICs";
	finding->seen = seen;
	if (seen && may_be_lost(ctx, there))
		finding->why = "records were or may be lost (COV-01)";
	else if (unknown(there) || unknown(back))
		finding->why = "much went by transports that are not known (COV-05)";
	if (finding->why)
		finding->verdict = VERDICT_UNKNOWN;
}

void rule_symmetric(const struct rule_ctx *ctx)
{
	struct map uneven = uneven_rails(ctx);
	struct directions directions = { 0 };

	collect_transports(ctx->aggregates, &directions);
	for (size_t i = 0; i < directions.list.len; i++) {
		const struct direction *there = &directions.list.data[i];
		const struct direction *back =
			direction_find(&directions, (uintptr_t)there->to, (uintptr_t)there->from);

		if (there->from < there->to && back && there->bytes + there->unknown &&
		    back->bytes + back->unknown)
			judge_pair(ctx, there, back, &uneven);
	}
	directions_release(&directions);
	map_release(&uneven);
}
