/* SPDX-License-Identifier: BSD-3-Clause */
/* What COV-03 looks at: a plan beside its ledgers and the captures of it. */
#ifndef UCXBPF_JUDGE_RULES_PLAN_H
#define UCXBPF_JUDGE_RULES_PLAN_H

#include "site/judge/rules/rules.h"

/* What is said of a node; the first of the gravest. */
struct note {
	enum verdict verdict;
	const char *text;
	uint64_t more; /* as grave ones that are not said */
	uint64_t messages, bytes; /* as they should be */
};

struct look {
	const struct trial *trial;
	struct sweep *sweep;
	struct note *notes; /* by node */
	struct map sent, met; /* as traced's, but with ranks for processes */
	struct map calls; /* rank; call -> count */
};

/* Whether something of that node's evidence is missing: what differs may be that. */
bool plan_lacks(const struct look *look, int node);

/* node < 0: not known whose it is, and nobody is held to it. */
void plan_note(struct look *look, int node, enum verdict verdict, const char *text);

/* Ranks that did not come to their end, of each job: each node is told why. */
void plan_look_for_stopped(struct look *look);

/* What they have of the plan, and what should be in the captures therefore. */
void plan_look_at_ledgers(struct look *look);

/* After the ledgers, which say what was sent and met: whether as much was traced. */
void plan_look_at_captures(struct look *look);

/* Ranks that all take the first GPU leave the others untried. */
void plan_look_at_gpus(struct look *look);

#endif
