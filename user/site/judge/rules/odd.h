/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which nodes do otherwise than most, where what is seen is of pairs of nodes, and either of both
 * may have brought it about.
 */
#ifndef UCXBPF_JUDGE_RULES_ODD_H
#define UCXBPF_JUDGE_RULES_ODD_H

#include "base/map.h"
#include "base/vec.h"
#include "site/judge/exhibits/exhibits.h"

enum { FROM, TO, ENDS };

/* Messages from one node to another, or within one, that are alike in all but the manner. */
struct pair {
	const struct node *ends[ENDS];
	const char *transport;
	bool gpus[ENDS];
	int size_class;
	uint64_t least, most; /* bytes */
	unsigned int used; /* a bit for each manner */
	size_t parties[ENDS]; /* set by odd_find(): their places in the group's */
};

/* Adds the other one's sizes. */
void pair_widen(struct pair *pair, const struct pair *other);

/* A node of a group, with how many others it has messages, by which end of them it is. */
struct party {
	const struct node *node;
	unsigned int used; /* by any of its pairs */
	size_t pairs[ENDS];
	size_t usual[ENDS],
		only[ENDS]; /* pairs in the usual manner, among others or in no other one */
	size_t accused[ENDS]; /* pairs that are otherwise, which the other end is not to blame for
			       */
	bool unclear; /* an end of a pair that is otherwise, and nobody is to blame for it */
};

/* Pairs that are alike; zeroed but for these two. */
struct group {
	struct pair *pairs;
	size_t count;
	VEC(struct party) parties;
	struct map index; /* node -> 1 + position */
};

void odd_release(struct group *group);

/* At one end or the other none of its pairs is in the usual manner. */
bool party_is_odd(const struct party *party);

/* And that is nobody else's doing: two others or more, or it itself, are at the other ends. */
bool party_is_guilty(const struct party *party);

/*
 * The usual one of so many manners, the parties marked by it: most nodes have it, and the fewest
 * pairs are otherwise without an odd node at an end; of several such, the one with the fewest odd
 * ones. None: as many as there are.
 */
unsigned int odd_find(struct group *group, unsigned int manners);

#endif
