/* SPDX-License-Identifier: BSD-3-Clause */
/* CFG-01: the processes of each node, and the variables that they have. */
#ifndef UCXBPF_JUDGE_RULES_ENVIRONMENT_H
#define UCXBPF_JUDGE_RULES_ENVIRONMENT_H

#include "site/judge/rules/rules.h"

#define NOT_SET "(not set)"

struct residents {
	VEC(struct resident {
		const struct node *node;
		const struct member *member;
	})
	list; /* by node, then by rank */
	VEC(struct variable {
		const char *name;
		bool of_ucx;
		uint32_t releases; /* that know it */
	})
	names; /* each once */
};

/* Those of one node: list[from .. to - 1] */
struct stay {
	size_t from, to;
};

/* Processes of MPI or UCX on nodes that have a name. */
void residents_collect(const struct exhibits *exhibits, struct residents *residents);
void residents_release(struct residents *residents);

/* The next node's, of a zeroed stay the first one's; false: there is none. */
bool residents_next(const struct residents *residents, struct stay *stay);

/* Whether the capture says what the variables of all of them, or of any process at all, are. */
bool residents_told(const struct residents *residents, struct stay stay);
bool residents_any_told(const struct residents *residents);

/* How many of their variables had no room in the capture. */
int residents_cut(const struct residents *residents, struct stay stay);

/* NOT_SET: it has no such variable. */
const char *resident_value(const struct member *member, const char *name);

/* Whether nodes should have it alike: a name that no process's UCX knows is nothing but misspelt.
 */
bool variable_compared(const struct residents *residents, const struct variable *variable);

/*
 * FAIL where a process of the node has a variable that its UCX does not know, once a name. Returns
 * whether a release was met that the table of names does not have.
 */
bool variable_judge_spelling(const struct trial *trial, const struct residents *residents,
			     struct stay stay, const struct variable *variable);

#endif
