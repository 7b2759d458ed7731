/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which nodes do otherwise than most, where what is seen is of pairs of nodes, and either of both
 * may have brought it about.
 */
#ifndef UCXBPF_JUDGE_RULES_ODD_H
#define UCXBPF_JUDGE_RULES_ODD_H

#include "base/map.h"
#include "base/vec.h"
#include "judge/exhibits/exhibits.h"

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

/* A node of a group, with how many others it has messages, by which end of them it is. */
struct party {
	const struct node *node;
	size_t pairs[ENDS],
		usual[ENDS]; /* usual: of these, some are in the manner that is asked about */
	bool odd; /* at one end or the other none is in the usual manner */
	bool guilty; /* and that is nobody else's doing */
};

/* Pairs that are alike; zeroed but for these two. */
struct group {
	struct pair *pairs;
	size_t count;
	VEC(struct party) parties;
	struct map index; /* node -> 1 + position */
};

void odd_release(struct group *group);

/*
 * The usual one of so many manners, the parties marked by it: most nodes have it, and all that is
 * otherwise has an odd one at an end. Of several such, the one with the fewest odd ones. None: as
 * many as there are.
 */
unsigned int odd_find(struct group *group, unsigned int manners);

#endif
