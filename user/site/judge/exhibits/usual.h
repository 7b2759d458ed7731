/* SPDX-License-Identifier: BSD-3-Clause */
/* What most nodes of a class have: nodes that should be alike are judged by that. */
#ifndef UCXBPF_JUDGE_EXHIBITS_USUAL_H
#define UCXBPF_JUDGE_EXHIBITS_USUAL_H

#include "site/judge/exhibits/exhibits.h"

/* What a node has of something that all nodes of its class should have alike. */
struct entry {
	const struct policy_class *class;
	const char *what;
	const struct node *node; /* that has a name */
};

struct entries {
	VEC(struct entry) list;
};

/*
 * Sorts the entries. Of what most nodes of each class have, 1 + the position of an entry; that of
 * the node whose name comes first, where two are as frequent. Key: the class.
 */
void find_usual(struct entries *entries, struct map *usual);

#endif
