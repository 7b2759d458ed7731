// SPDX-License-Identifier: BSD-3-Clause
/* All patterns, and which of them fit. */
#include <stdio.h>

#include "explain/pattern/internal.h"

static const char *const tree_names[TREE_SHAPES] = {
	[TREE_LINEAR] = "linear", [TREE_BINOMIAL] = "binomial tree", [TREE_BINARY] = "binary tree",
	[TREE_CHAIN] = "chain",   [TREE_K_NOMIAL] = "k-nomial tree",
};

#define ALLGATHERS (KIND(ALLGATHER) | KIND(ALLGATHERV))
#define ALLTOALLS (KIND(ALLTOALL) | KIND(ALLTOALLV) | KIND(ALLTOALLW))
#define REDUCE_SCATTERS (KIND(REDUCE_SCATTER) | KIND(REDUCE_SCATTER_BLOCK))
#define SCANS (KIND(SCAN) | KIND(EXSCAN))

static const struct {
	const char *name;
	uint32_t kinds; /* collectives that some library makes so */
	pattern_fits *fits;
} exchanges[] = {
	{ "ring", ALLGATHERS | KIND(ALLREDUCE) | REDUCE_SCATTERS, fits_ring },
	{ "double ring", KIND(BARRIER), fits_ring },
	{ "recursive doubling", ALLGATHERS | KIND(ALLREDUCE) | KIND(BARRIER) | SCANS,
	  fits_doubling },
	{ "recursive halving", REDUCE_SCATTERS, fits_halving },
	{ "Rabenseifner", KIND(ALLREDUCE), fits_rabenseifner },
	{ "Rabenseifner", KIND(REDUCE), fits_halving_gather },
	{ "neighbour exchange", ALLGATHERS, fits_neighbours },
	{ "Bruck", ALLGATHERS | KIND(BARRIER) | KIND(ALLTOALL), fits_bruck },
	{ "pairwise", ALLTOALLS | REDUCE_SCATTERS, fits_pairwise },
	{ "linear", ALLTOALLS, fits_all_at_once },
	{ "scatter and ring", KIND(BCAST), fits_scatter_ring },
	{ "scatter and recursive doubling", KIND(BCAST), fits_scatter_doubling },
};

#define MOST (ARRAY_SIZE(exchanges) + TREE_SHAPES)

struct fitting {
	const char *names[MOST];
	size_t count;
	unsigned int rounds;
	bool in_parts;
};

static void add(struct fitting *fitting, const struct view *view, const char *name,
		unsigned int rounds)
{
	fitting->names[fitting->count++] = name;
	fitting->rounds = rounds;
	fitting->in_parts = view->in_parts;
}

static void find_all(struct view *view, struct fitting *fitting)
{
	unsigned int rounds = 0;
	uint32_t shapes;

	for (size_t i = 0; i < ARRAY_SIZE(exchanges); i++) {
		view->in_parts = false;
		if (exchanges[i].kinds >> view->kind & 1 && exchanges[i].fits(view, &rounds))
			add(fitting, view, exchanges[i].name, rounds);
	}
	shapes = tree_shapes(view, &rounds);
	for (int i = 0; i < TREE_SHAPES; i++)
		if (shapes >> i & 1)
			add(fitting, view, tree_names[i], rounds);
}

static bool sizes_known(const struct pattern_message *messages, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (messages[i].bytes == UINT64_MAX)
			return false;
	return true;
}

static struct algorithm unknown(const char *reason)
{
	struct algorithm algorithm = { 0 };

	snprintf(algorithm.reason, sizeof(algorithm.reason), "%s", reason);
	return algorithm;
}

static struct algorithm several(const struct fitting *fitting)
{
	struct algorithm algorithm = { .several = true };
	size_t length = 0;

	/* all names together have room */
	for (size_t i = 0; i < fitting->count; i++) {
		const bool last = i + 1 == fitting->count;

		length += snprintf(algorithm.reason + length, sizeof(algorithm.reason) - length,
				   "%s%s%s",
				   !i     ? ""
				   : last ? " or "
					  : ", ",
				   fitting->names[i], last ? " fit" : "");
	}
	return algorithm;
}

struct algorithm pattern_find(struct patterns *patterns, enum collective_kind kind,
			      unsigned int members, const struct pattern_message *messages,
			      size_t count)
{
	struct fitting fitting = { .count = 0 };
	struct view view;

	if (members < 3)
		return unknown("two ranks: all algorithms are the same");
	if (!sizes_known(messages, count))
		return unknown("sizes of messages are not known");
	view = view_of(patterns, kind, members, messages, count);
	find_all(&view, &fitting);
	if (!fitting.count)
		return unknown("no known pattern");
	if (fitting.count > 1)
		return several(&fitting);
	return (struct algorithm){ .name = fitting.names[0],
				   .rounds = fitting.rounds,
				   .in_parts = fitting.in_parts };
}
