// SPDX-License-Identifier: BSD-3-Clause
/* PROTO-02: the sizes at which nodes switch protocols. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "site/judge/rules/rules.h"

/*
 * Messages of a node's calls of one function. UCX has different thresholds for operations that may
 * complete at once (MPI_Send) and for those with a request (MPI_Isend).
 */
struct sent_messages {
	const struct node *node;
	const char *function;
	bool inter;
	uint64_t eager_most; /* the largest message sent eagerly, 0 = none */
	uint64_t rndv_least; /* the smallest by rendezvous, 0 = none */
};

struct sent_list {
	VEC(struct sent_messages) list;
	struct map index; /* (node and inter, function) -> 1 + position */
};

static struct sent_messages *sent_at(struct sent_list *sent, const struct node *node,
				     const char *function, bool inter)
{
	uint64_t *at = map_insert(&sent->index, (uintptr_t)node | inter, (uintptr_t)function, NULL);

	if (!*at) {
		vec_push(&sent->list,
			 ((struct sent_messages){
				 .node = node, .function = function, .inter = inter }));
		*at = sent->list.len;
	}
	return &sent->list.data[*at - 1];
}

/* "egr/..." and "egrsnc/..." in UCX's protocol v2. */
static bool is_eager(const char *protocol)
{
	return strstr(protocol, "eager") || strstr(protocol, "egr");
}

static void add_cell(struct sent_list *sent, const struct node *node,
		     const struct traffic_cell *cell)
{
	bool eager = cell->most && is_eager(cell->protocol);
	bool rndv = strstr(cell->protocol, "rndv");
	struct sent_messages *to =
		eager || rndv ? sent_at(sent, node, cell->function, cell_inter(cell)) : NULL;

	if (eager && cell->most > to->eager_most)
		to->eager_most = cell->most;
	if (rndv && (!to->rndv_least || cell->least < to->rndv_least))
		to->rndv_least = cell->least;
}

/* ---- nodes of a class, by what the same calls of theirs sent ---- */

static int by_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int by_calls(const struct sent_messages *a, const struct sent_messages *b)
{
	const struct policy_class *left = a->node->class, *right = b->node->class;
	int order = (left > right) - (left < right);

	order = order ? order : a->inter - b->inter;
	return order ? order : by_text(a->function, b->function);
}

static int by_calls_and_node(const void *left, const void *right)
{
	const struct sent_messages *a = left, *b = right;
	int order = by_calls(a, b);

	return order ? order : by_text(a->node->name, b->node->name);
}

static int by_number(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/*
 * The range in which each node may switch: from the largest message that it sent eagerly to the
 * smallest by rendezvous, times the factor allowed between two nodes. A size that most ranges share
 * is right.
 */
struct common {
	const struct sent_messages *sent;
	size_t count;
	double factor;
	double *bottoms, *tops; /* of all, each list ascending */
	size_t most; /* nodes that have a size in common, */
	double first, last; /* the smallest and the largest such size */
};

static double bottom_of(const struct sent_messages *sent)
{
	return sent->eager_most;
}

static double top_of(const struct common *common, const struct sent_messages *sent)
{
	return sent->rndv_least ? fmax(sent->rndv_least * common->factor, bottom_of(sent))
				: INFINITY;
}

/* How many of the list are below that size; with equal: or are that. */
static size_t below(const double *list, size_t count, double size, bool equal)
{
	size_t from = 0, to = count;

	while (from < to) {
		size_t middle = (from + to) / 2;

		if (list[middle] < size || (equal && list[middle] == size))
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static size_t nodes_at(const struct common *common, double size)
{
	return below(common->bottoms, common->count, size, true) -
	       below(common->tops, common->count, size, false);
}

/* No size is common to more nodes than the best of those at which one of them begins. */
static void find_common(struct common *common)
{
	for (size_t i = 0; i < common->count; i++) {
		common->bottoms[i] = bottom_of(&common->sent[i]);
		common->tops[i] = top_of(common, &common->sent[i]);
	}
	qsort(common->bottoms, common->count, sizeof(double), by_number);
	qsort(common->tops, common->count, sizeof(double), by_number);
	for (size_t i = 0; i < common->count; i++) {
		double size = common->bottoms[i];
		size_t nodes = nodes_at(common, size);

		if (nodes > common->most)
			common->first = size;
		if (nodes >= common->most)
			common->last = size;
		common->most = nodes > common->most ? nodes : common->most;
	}
}

/* Sizes that most have in common may lie apart: then a node can be of one opinion alone. */
static bool agrees(const struct common *common, const struct sent_messages *own, bool with_all)
{
	double bottom = bottom_of(own), top = top_of(common, own);

	if (with_all)
		return bottom <= common->first && common->last <= top;
	for (size_t i = 0; i < common->count; i++) {
		double size = common->bottoms[i];

		if (bottom <= size && size <= top && nodes_at(common, size) == common->most)
			return true;
	}
	return false;
}

static enum verdict verdict_of(const struct common *common, const struct sent_messages *own)
{
	if (agrees(common, own, true))
		return VERDICT_PASS;
	return 2 * common->most <= common->count || agrees(common, own, false) ? VERDICT_UNKNOWN
									       : VERDICT_FAIL;
}

/* ---- findings ---- */

static const char *sizes_text(struct judge *judge, uint64_t eager_most, uint64_t rndv_least)
{
	if (!rndv_least)
		return say(judge, "eager up to %lu B", (unsigned long)eager_most);
	if (!eager_most)
		return say(judge, "rendezvous from %lu B on", (unsigned long)rndv_least);
	return say(judge, "eager up to %lu B, rendezvous from %lu B on", (unsigned long)eager_most,
		   (unsigned long)rndv_least);
}

/* The description of the nodes that share the smallest common size. */
static const char *usual_text(struct judge *judge, const struct common *common)
{
	const char *function = common->sent->function;
	uint64_t least = 0;

	for (size_t i = 0; i < common->count; i++) {
		const struct sent_messages *sent = &common->sent[i];

		if (bottom_of(sent) <= common->first && common->first <= top_of(common, sent) &&
		    sent->rndv_least && (!least || sent->rndv_least < least))
			least = sent->rndv_least;
	}
	return say(judge, "%s: %s, as on %zu of %zu nodes", function ? function : FACT_OUTSIDE_MPI,
		   sizes_text(judge, common->first, least), common->most, common->count);
}

static void judge_node(const struct rule_ctx *ctx, const struct common *common,
		       const struct sent_messages *own, const char *usual)
{
	enum verdict verdict = verdict_of(common, own);
	struct finding *finding = found(ctx, verdict, subject_node(own->node->name));
	const char *sizes = sizes_text(ctx->judge, own->eager_most, own->rndv_least);

	finding->expected = usual;
	if (verdict == VERDICT_FAIL)
		finding->seen = sizes;
	if (verdict == VERDICT_UNKNOWN)
		finding->why =
			say(ctx->judge,
			    "%s: %s; other nodes differ, and no majority shows which is right",
			    own->function ? own->function : FACT_OUTSIDE_MPI, sizes);
}

static void judge_group(const struct rule_ctx *ctx, const struct sent_messages *sent, size_t count)
{
	struct common common = { .sent = sent, .count = count };
	size_t eager = 0, rndv = 0;
	const char *usual;

	for (size_t i = 0; i < count; i++) {
		eager += sent[i].eager_most != 0;
		rndv += sent[i].rndv_least != 0;
	}
	if (count < 2 || !eager || !rndv)
		return;
	common.factor = ctx->settings->proto_02.factor;
	common.bottoms = xcalloc(count, sizeof(double));
	common.tops = xcalloc(count, sizeof(double));
	find_common(&common);
	usual = usual_text(ctx->judge, &common);
	for (size_t i = 0; i < count; i++)
		judge_node(ctx, &common, &sent[i], usual);
	free(common.bottoms);
	free(common.tops);
}

/*
 * A node that sends eagerly what others of its class send by rendezvous, or the other way round; or
 * that moves the data of these in another way.
 */
void rule_switch_points(const struct rule_ctx *ctx)
{
	const struct aggregates *aggregates = ctx->aggregates;
	size_t to;
	struct sent_list sent = { 0 };

	for (size_t i = 0; i < aggregates->cells.len; i++) {
		const struct traffic_cell *cell = &aggregates->cells.data[i];
		const struct node *node = aggregates_node(aggregates, cell->process);

		if (node && cell->protocol && cell_placed(cell))
			add_cell(&sent, node, cell);
	}
	if (sent.list.len)
		qsort(sent.list.data, sent.list.len, sizeof(*sent.list.data), by_calls_and_node);
	for (size_t from = 0; from < sent.list.len; from = to) {
		for (to = from + 1;
		     to < sent.list.len && !by_calls(&sent.list.data[from], &sent.list.data[to]);)
			to++;
		judge_group(ctx, &sent.list.data[from], to - from);
	}
	schemes_judge(ctx);
	vec_release(&sent.list);
	map_release(&sent.index);
}
