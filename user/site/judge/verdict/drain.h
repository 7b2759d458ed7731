/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Proposals of nodes to take out of service: a node that fails a critical rule by itself, on
 * complete evidence. The tool that carries them out must ask for permission first.
 */
#ifndef UCXBPF_JUDGE_VERDICT_DRAIN_H
#define UCXBPF_JUDGE_VERDICT_DRAIN_H

#include "site/judge/judge.h"

/* Nodes to drain for the same rules. */
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
	refused; /* nodes that fail a critical rule and are kept nevertheless */
	size_t nodes; /* in all of list */
	size_t most; /* that act.max_drain allows: a number, and a share of the policy's nodes */
};

/* To be called after judge_finish(). Empty if the policy has drain: never, or names no nodes. */
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
