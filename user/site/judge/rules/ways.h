/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules about the memory that messages went through, and what carried them from one to the next. */
#ifndef UCXBPF_JUDGE_RULES_WAYS_H
#define UCXBPF_JUDGE_RULES_WAYS_H

#include "site/judge/rules/rules.h"

struct way_question {
	/* cell: of the message's ends, without what carried it */
	bool (*about)(const struct trial *trial, const struct cell *cell, const void *arg);
	bool (*wrong)(const struct sum *way, const void *arg); /* of one whose way is known */
	const void *arg;
	double allowed; /* share of the bytes that may be wrong, or not known */
	const char *expected;
	const char *why_none; /* NULL: nothing is said where it is about no message */
};

/* A finding per node or pair of nodes. */
void ask_ways(const struct trial *trial, const struct way_question *question);

/* Host memory between both buffers: "gpu0,host,gpu1". */
bool way_staged(const struct sum *way);

/* What brought it into the receiver's buffer, of several hops. */
bool way_copied_by(const struct sum *way, const char *transport);

/* Any of what carried it. */
bool way_uses(const struct sum *way, const char *transport);

#endif
