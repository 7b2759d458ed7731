/* SPDX-License-Identifier: BSD-3-Clause */
/* What COV-03 looks at: a plan beside its ledgers and the captures of it. */
#ifndef UCXBPF_JUDGE_RULES_PLAN_H
#define UCXBPF_JUDGE_RULES_PLAN_H

#include "judge/rules/rules.h"

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
	uint32_t job; /* whose ranks are looked at */
	const char *stopped; /* why these did not come to their end */
};

/* Whether something of that node's evidence is missing: what differs may be that. */
bool plan_lacks(const struct look *look, int node);

/* node < 0: not known whose it is, and nobody is held to it. */
void plan_note(struct look *look, int node, enum verdict verdict, const char *text);

/* After the ledgers, which say what was sent and met: whether as much was traced. */
void plan_look_at_captures(struct look *look);

/* Ranks that all take the first GPU leave the others untried. */
void plan_look_at_gpus(struct look *look);

#endif
