/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of pattern/. */
#ifndef UCXBPF_PATTERN_INTERNAL_H
#define UCXBPF_PATTERN_INTERNAL_H

#include <stdbool.h>

#include "base/vec.h"
#include "explain/pattern/pattern.h"

/* A message of a member, at the time at which that one began it. */
struct begun {
	uint64_t at;
	uint32_t message;
};

/* Sends and receives of a member, each in the order in which the operations began. */
struct doings {
	const struct begun *sends, *posts;
	uint32_t sent, posted; /* how many */
};

/* An equal number of sends and receives of a member, consecutive. */
struct steps {
	uint32_t send, post, count; /* positions in its line */
	bool out; /* it does not take part */
};

struct view {
	enum collective_kind kind;
	uint32_t members;
	const struct pattern_message *messages;
	size_t count;
	struct doings *lines; /* by member, as all that follow */
	struct steps *parts;
	uint32_t inside; /* members that take part */
	bool in_parts; /* as struct algorithm has it, of the pattern that was tried last */
	uint32_t *parent, *other, *pending, *height; /* notes of trees and rings */
	uint64_t *code;
};

/* A set of collectives. */
#define KIND(kind) (1u << COLLECTIVE_##kind)

struct patterns {
	VEC(char) memory;
};

/* ---- view.c ---- */
/* The view is valid until the next one. */
struct view view_of(struct patterns *patterns, enum collective_kind kind, unsigned int members,
		    const struct pattern_message *messages, size_t count);

/*
 * Parts: all messages of each member; without the members beyond a power of two, which pass their
 * data to another one before, and get the result from it afterwards; the last or first steps of
 * each member. False: the messages do not fit.
 */
bool part_all(struct view *view);
bool part_power_of_two(struct view *view);
bool part_tail(struct view *view, uint32_t count);
bool part_head(struct view *view, uint32_t count);

static inline const struct pattern_message *view_send(const struct view *view, uint32_t member,
						      uint32_t step)
{
	const struct doings *line = &view->lines[member];

	return &view->messages[line->sends[view->parts[member].send + step].message];
}

static inline const struct pattern_message *view_post(const struct view *view, uint32_t member,
						      uint32_t step)
{
	const struct doings *line = &view->lines[member];

	return &view->messages[line->posts[view->parts[member].post + step].message];
}

/* The logarithm to base 2, rounded up. */
static inline uint32_t log2_up(uint32_t number)
{
	return number < 2 ? 0 : 32 - (uint32_t)__builtin_clz(number - 1);
}

/* ---- exchange.c, tree.c: whether a pattern fits, and its rounds ---- */
typedef bool pattern_fits(struct view *view, unsigned int *rounds);

pattern_fits fits_ring, fits_doubling, fits_halving, fits_rabenseifner, fits_neighbours, fits_bruck,
	fits_pairwise, fits_all_at_once, fits_scatter_ring, fits_scatter_doubling,
	fits_halving_gather;

enum tree_shape { TREE_LINEAR, TREE_BINOMIAL, TREE_BINARY, TREE_CHAIN, TREE_K_NOMIAL, TREE_SHAPES };

/*
 * Which shapes the messages have (1 << enum tree_shape): to the root or from it, or, where the
 * collective has none, to some member and back.
 */
uint32_t tree_shapes(struct view *view, unsigned int *rounds);

/* Messages in no part: whether they are a binomial tree from a root, or to one. */
bool is_binomial_rest(struct view *view, bool from_root, unsigned int *rounds);

#endif
