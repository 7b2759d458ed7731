// SPDX-License-Identifier: BSD-3-Clause
/*
 * Patterns that are trees. Members that only receive do not show their ranks, so trees are compared
 * by shape: the same number stands for the same tree, however its nodes are named.
 */
#include "explain/pattern/internal.h"

#define NONE UINT32_MAX

/* The finaliser of splitmix64: different sums give different numbers, but for one in 2^64. */
static uint64_t mix(uint64_t value)
{
	value += 0x9e3779b97f4a7c15;
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
	value = (value ^ value >> 27) * 0x94d049bb133111eb;
	return value ^ value >> 31;
}

/*
 * The shape of the tree that view->parent has, NONE for its root, and its height; 0: it is no tree
 * of all members. Nodes are taken as soon as all of their children are: other[] is the queue.
 */
static uint64_t shape_of(struct view *view, unsigned int *height)
{
	uint32_t taken = 0, ready = 0, root = NONE;

	for (uint32_t i = 0; i < view->members; i++) {
		view->pending[i] = view->height[i] = 0;
		view->code[i] = 1;
	}
	for (uint32_t i = 0; i < view->members; i++) {
		if (view->parent[i] != NONE)
			view->pending[view->parent[i]]++;
		else if (root != NONE)
			return 0;
		else
			root = i;
	}
	if (root == NONE)
		return 0;
	for (uint32_t i = 0; i < view->members; i++)
		if (!view->pending[i])
			view->other[ready++] = i;
	for (; taken < ready; taken++) {
		const uint32_t node = view->other[taken], above = view->parent[node];

		if (above == NONE)
			break;
		view->code[above] += mix(view->code[node]);
		if (view->height[above] <= view->height[node])
			view->height[above] = view->height[node] + 1;
		if (!--view->pending[above])
			view->other[ready++] = above;
	}
	*height = view->height[root];
	return ready == view->members ? mix(view->code[root]) : 0;
}

/* ---- trees as libraries make them: the parent of a node, counted from the root ---- */

static uint32_t linear_parent(uint32_t node, uint32_t members)
{
	(void)node;
	(void)members;
	return 0;
}

/* Without its lowest bit (MPICH, ompi_coll_base_topo_build_in_order_bmtree), */
static uint32_t low_parent(uint32_t node, uint32_t members)
{
	(void)members;
	return node & (node - 1);
}

/* or its highest (ompi_coll_base_topo_build_bmtree). */
static uint32_t high_parent(uint32_t node, uint32_t members)
{
	(void)members;
	return node & ~(1u << (31 - __builtin_clz(node)));
}

static uint32_t binary_parent(uint32_t node, uint32_t members)
{
	(void)members;
	return (node - 1) / 2;
}

/* ompi_coll_base_topo_build_tree: children in turn, a level at a time. */
static uint32_t level_parent(uint32_t node, uint32_t members)
{
	const uint32_t level =
		1u << (31 - __builtin_clz(node + 1)); /* its first node is level - 1 */
	const uint32_t near = node - level / 2;

	(void)members;
	return near < level - 1 ? near : node - level;
}

/* ompi_coll_base_topo_build_in_order_bintree: a half on one side, the rest on the other. */
static uint32_t in_order_parent(uint32_t node, uint32_t members)
{
	uint32_t top = 0, size = members;

	for (;;) {
		const uint32_t left = size - size / 2 - 1;
		const uint32_t inside = node - top - 1;

		/* of two nodes the one below is alone, on the left */
		if (size == 2 || !inside || inside == left)
			return top;
		if (inside < left) {
			top++;
			size = left;
		} else {
			top += left + 1;
			size = size / 2;
		}
	}
}

static uint32_t chain_parent(uint32_t node, uint32_t members)
{
	(void)members;
	return node - 1;
}

/* Four chains (ompi_coll_base_topo_build_chain, coll_tuned_bcast_algorithm_chain_fanout). */
static uint32_t chains_parent(uint32_t node, uint32_t members)
{
	const uint32_t chains = members - 1 < 4 ? members - 1 : 4;
	const uint32_t length = (members - 1) / chains, longer = (members - 1) % chains;
	const uint32_t inside = node - 1, behind = longer * (length + 1);
	const uint32_t place = inside < behind ? inside % (length + 1) : (inside - behind) % length;

	return place ? node - 1 : 0;
}

/* Radix 4 (ompi_coll_base_topo_build_kmtree): without the lowest digit. */
static uint32_t k_nomial_parent(uint32_t node, uint32_t members)
{
	uint32_t mask = 4;

	(void)members;
	while (!(node % mask))
		mask *= 4;
	return node / mask * mask;
}

#define TO_ALL (KIND(BCAST) | KIND(REDUCE))
#define AND_BACK (KIND(ALLREDUCE) | KIND(BARRIER) | KIND(ALLGATHER) | KIND(ALLGATHERV))
#define PIECES (KIND(GATHER) | KIND(SCATTER))
#define PIECES_V (KIND(GATHERV) | KIND(SCATTERV))
#define PREFIXES (KIND(SCAN) | KIND(EXSCAN))

/* Collectives that some library makes by trees of that shape. */
static const struct {
	enum tree_shape shape;
	uint32_t kinds;
	uint32_t (*parent)(uint32_t node, uint32_t members);
} shapes[] = {
	{ TREE_LINEAR, TO_ALL | AND_BACK | PIECES | PIECES_V, linear_parent },
	{ TREE_BINOMIAL, TO_ALL | AND_BACK | PIECES, low_parent },
	{ TREE_BINOMIAL, TO_ALL | AND_BACK, high_parent },
	{ TREE_BINARY, TO_ALL | AND_BACK, binary_parent },
	{ TREE_BINARY, TO_ALL | AND_BACK, level_parent },
	{ TREE_BINARY, KIND(REDUCE) | AND_BACK, in_order_parent },
	{ TREE_CHAIN, TO_ALL | AND_BACK | PREFIXES, chain_parent },
	{ TREE_CHAIN, TO_ALL, chains_parent },
	{ TREE_K_NOMIAL, KIND(BCAST), k_nomial_parent },
};

static uint64_t made_shape(struct view *view, uint32_t (*parent)(uint32_t, uint32_t))
{
	unsigned int height;

	view->parent[0] = NONE;
	for (uint32_t i = 1; i < view->members; i++)
		view->parent[i] = parent(i, view->members);
	return shape_of(view, &height);
}

static uint32_t shapes_like(struct view *view, uint64_t code)
{
	uint32_t found = 0;

	for (size_t i = 0; code && i < ARRAY_SIZE(shapes); i++)
		if (shapes[i].kinds >> view->kind & 1 && made_shape(view, shapes[i].parent) == code)
			found |= 1u << shapes[i].shape;
	return found;
}

/* ---- messages of a tree ---- */

static void no_parents(struct view *view)
{
	for (uint32_t i = 0; i < view->members; i++)
		view->parent[i] = NONE;
}

static bool set_parent(struct view *view, uint32_t child, uint32_t parent)
{
	if (view->parent[child] != NONE && view->parent[child] != parent)
		return false;
	view->parent[child] = parent;
	return true;
}

/* Data that is not cut in pieces: every edge carries as many messages and bytes. */
static bool is_even(const struct view *view, bool from_root)
{
	uint64_t first_bytes = 0;
	uint32_t first = 0;

	if (!(TO_ALL >> view->kind & 1))
		return true;
	for (uint32_t i = 0; i < view->members; i++) {
		const struct doings *line = &view->lines[i];
		const struct begun *turns = from_root ? line->posts : line->sends;
		const uint32_t count = from_root ? line->posted : line->sent;
		uint64_t bytes = 0;

		if (view->parent[i] == NONE)
			continue;
		for (uint32_t k = 0; k < count; k++)
			bytes += view->messages[turns[k].message].bytes;
		if (!first) {
			first = count;
			first_bytes = bytes;
		}
		if (count != first || bytes != first_bytes)
			return false;
	}
	return true;
}

/* Without data, beside one with data: it synchronises (Open MPI's linear_sync). */
static bool is_empty(const struct view *view, const struct pattern_message *message)
{
	return !message->bytes && view->kind == COLLECTIVE_GATHER;
}

static bool is_beside(const struct view *view, const struct pattern_message *message)
{
	return view->parent[message->from] == message->to ||
	       view->parent[message->to] == message->from;
}

static uint32_t shapes_one_way(struct view *view, bool from_root, unsigned int *rounds)
{
	no_parents(view);
	for (size_t i = 0; i < view->count; i++) {
		const struct pattern_message *message = &view->messages[i];
		const uint32_t child = from_root ? message->to : message->from;

		if (is_empty(view, message))
			continue;
		if (!set_parent(view, child, from_root ? message->from : message->to))
			return 0;
	}
	for (size_t i = 0; i < view->count; i++)
		if (is_empty(view, &view->messages[i]) && !is_beside(view, &view->messages[i]))
			return 0;
	view->in_parts = view->count > view->members - 1;
	return is_even(view, from_root) ? shapes_like(view, shape_of(view, rounds)) : 0;
}

/* ---- to some member, and back ---- */

/*
 * The first message of each member goes to its parent, but for the root, whose first one goes to a
 * child that it had a message of.
 */
static bool find_parents(struct view *view)
{
	uint32_t root = NONE;

	for (uint32_t i = 0; i < view->members; i++) {
		if (!view->lines[i].sent)
			return false;
		view->parent[i] = view->messages[view->lines[i].sends[0].message].to;
	}
	for (uint32_t i = 0; i < view->members; i++) {
		const uint32_t other = view->parent[i];
		const struct pattern_message *own =
			&view->messages[view->lines[i].sends[0].message];
		const struct pattern_message *its =
			&view->messages[view->lines[other].sends[0].message];

		if (its->to != i || own->sent < its->arrived)
			continue;
		if (root != NONE)
			return false;
		root = i;
	}
	if (root != NONE)
		view->parent[root] = NONE;
	return root != NONE;
}

/* Whether a member posts all receives from its children before it sends to any. */
static bool gathers_first(const struct view *view, uint32_t member)
{
	const struct doings *line = &view->lines[member];
	uint64_t posted = 0, sent = UINT64_MAX;

	for (uint32_t k = 0; k < line->posted; k++)
		if (view->parent[view->messages[line->posts[k].message].from] == member)
			posted = line->posts[k].at;
	for (uint32_t k = line->sent; k--;)
		if (view->parent[view->messages[line->sends[k].message].to] == member)
			sent = line->sends[k].at;
	return posted < sent;
}

/* Each edge carries messages both ways: up first, then down. */
static bool goes_and_returns(struct view *view)
{
	uint32_t *up = view->pending, *down = view->height;

	for (uint32_t i = 0; i < view->members; i++)
		up[i] = down[i] = 0;
	for (size_t i = 0; i < view->count; i++) {
		const struct pattern_message *message = &view->messages[i];

		if (view->parent[message->from] == message->to)
			up[message->from]++;
		else if (view->parent[message->to] == message->from)
			down[message->to]++;
		else
			return false;
	}
	for (uint32_t i = 0; i < view->members; i++)
		if (view->parent[i] != NONE && (!up[i] || !down[i]))
			return false;
	for (uint32_t i = 0; i < view->members; i++)
		if (!gathers_first(view, i))
			return false;
	return true;
}

static uint32_t shapes_both_ways(struct view *view, unsigned int *rounds)
{
	uint32_t found;

	if (!find_parents(view) || !goes_and_returns(view))
		return 0;
	found = shapes_like(view, shape_of(view, rounds));
	view->in_parts = view->count > 2 * (size_t)(view->members - 1);
	*rounds *= 2;
	return found;
}

uint32_t tree_shapes(struct view *view, unsigned int *rounds)
{
	switch (view->kind) {
	case COLLECTIVE_BCAST:
	case COLLECTIVE_SCATTER:
	case COLLECTIVE_SCATTERV:
	case COLLECTIVE_SCAN:
	case COLLECTIVE_EXSCAN:
		return shapes_one_way(view, true, rounds);
	case COLLECTIVE_GATHER:
	case COLLECTIVE_GATHERV:
	case COLLECTIVE_REDUCE:
		return shapes_one_way(view, false, rounds);
	default:
		return shapes_both_ways(view, rounds);
	}
}

/* ---- beside an exchange ---- */

bool is_binomial_rest(struct view *view, bool from_root, unsigned int *rounds)
{
	uint64_t code;

	no_parents(view);
	for (uint32_t i = 0; i < view->members; i++) {
		const struct doings *line = &view->lines[i];
		const struct steps *part = &view->parts[i];

		for (uint32_t k = 0; k < line->sent; k++) {
			const uint32_t to = view->messages[line->sends[k].message].to;

			if (k >= part->send && k < part->send + part->count)
				continue;
			if (!set_parent(view, from_root ? to : i, from_root ? i : to))
				return false;
		}
		if (line->posted - part->count > (from_root ? 1u : line->posted))
			return false;
	}
	code = shape_of(view, rounds);
	return code &&
	       (code == made_shape(view, low_parent) || code == made_shape(view, high_parent));
}
