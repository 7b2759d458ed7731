/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which nodes should be taken out of service, as proposals: one that fails a critical rule by
 * itself, on complete evidence. Who carries them out asks for permission first.
 */
#ifndef UCXBPF_JUDGE_VERDICT_DRAIN_H
#define UCXBPF_JUDGE_VERDICT_DRAIN_H

#include "site/judge/judge.h"

/* Nodes that go for the same rules. */
struct drain {
	char *nodes; /* as scontrol takes them: "n[0801-0804]" */
	char *reason; /* the policy's prefix and the rules; printable ASCII without quotes */
	char **names; /* of each */
	size_t count;
};

struct drain_refusal {
	char *nodes; /* folded */
	const char *why;
};

struct drains {
	VEC(struct drain) list;
	VEC(struct drain_refusal)
	refused; /* nodes that fail a critical rule and are kept all the same */
	size_t nodes; /* in all of list */
	size_t most; /* that act.max_drain allows: a number, and a share of the policy's nodes */
};

/* After judge_finish(). Nothing where the policy says drain: never, or names no nodes. */
void drains_make(struct drains *drains, const struct judge *judge);
void drains_release(struct drains *drains);

/* Whether they may be carried out: all of them or none. */
static inline bool drains_allowed(const struct drains *drains)
{
	return drains->nodes <= drains->most;
}

#define DRAIN_WORDS 5

/* scontrol update NodeName=... State=DRAIN Reason=..., NULL behind; the caller frees each word. */
void drain_command(const struct drain *drain, char *words[DRAIN_WORDS + 1]);

#endif
