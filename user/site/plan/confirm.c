// SPDX-License-Identifier: BSD-3-Clause
/* The stage that confirms: suspects meet nodes that are above suspicion, suspected pairs again. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "site/plan/internal.h"

#define PLAN_PAIR_ROUNDS 3 /* that a suspected pair meets again */

struct suspect {
	int node;
	VEC(int) partners; /* -1: it has met that one */
};

struct suspects {
	VEC(struct suspect) list;
};

static void release_suspects(struct suspects *suspects)
{
	for (size_t i = 0; i < suspects->list.len; i++)
		vec_release(&suspects->list.data[i].partners);
	vec_release(&suspects->list);
}

/* Trusted nodes that a suspect has not met come first, in the order of the circle. */
static void order_partners(const struct plan *plan, const enum plan_trust *trust,
			   struct suspect *suspect)
{
	const struct plan_stage *time = plan_stage(plan, STAGE_TIME);
	bool *met = xcalloc(plan->nodes.len, sizeof(*met));

	for (uint32_t round = 0; time && round < time->rounds; round++) {
		int partner = plan_partner(plan, time, round, suspect->node);

		if (partner != PLAN_IDLE)
			met[partner] = true;
	}
	for (int known = 0; known < 2; known++)
		for (size_t i = 0; i < plan->order.len; i++) {
			int node = plan->order.data[i];

			if (trust[node] == PLAN_TRUSTED && met[node] == known)
				vec_push(&suspect->partners, node);
		}
	free(met);
}

/*
 * Each suspect takes the first partner of its list that is free in this round and that it has not
 * met.
 */
static void take_partners(const struct plan *plan, struct plan_stage *stage,
			  const struct suspect *suspects, size_t count)
{
	int32_t *partners = plan_round(plan, stage);

	for (size_t s = 0; s < count; s++)
		for (size_t i = 0; i < suspects[s].partners.len; i++) {
			int *node = &suspects[s].partners.data[i];

			if (*node < 0 || partners[*node] != PLAN_IDLE ||
			    partners[suspects[s].node] != PLAN_IDLE)
				continue;
			plan_pair(partners, suspects[s].node, *node);
			*node = -1;
			break;
		}
}

static void confirm_nodes(const struct plan *plan, struct plan_stage *stage,
			  const struct plan_doubts *doubts, uint32_t rounds)
{
	struct suspects suspects = { 0 };
	size_t trusted = 0;

	for (size_t i = 0; i < plan->nodes.len; i++) {
		trusted += doubts->trust[i] == PLAN_TRUSTED;
		if (doubts->trust[i] == PLAN_SUSPECT)
			vec_push(&suspects.list, ((struct suspect){ .node = i }));
	}
	for (size_t i = 0; i < suspects.list.len; i++)
		order_partners(plan, doubts->trust, &suspects.list.data[i]);
	for (uint32_t round = 0; suspects.list.len && round < rounds && round < trusted; round++)
		take_partners(plan, stage, suspects.list.data, suspects.list.len);
	release_suspects(&suspects);
}

/* Pairs whose nodes are both free meet; those that have met least often come first. */
static bool meet_again(const struct plan *plan, struct plan_stage *stage,
		       const struct plan_doubts *doubts, uint32_t *met)
{
	int32_t *partners = plan_round(plan, stage);
	bool left = false;

	for (uint32_t times = 0; times < PLAN_PAIR_ROUNDS; times++)
		for (size_t i = 0; i < doubts->pair_count; i++) {
			const struct plan_pair *pair = &doubts->pairs[i];

			if (met[i] != times || partners[pair->a] != PLAN_IDLE ||
			    partners[pair->b] != PLAN_IDLE)
				continue;
			plan_pair(partners, pair->a, pair->b);
			met[i]++;
		}
	for (size_t i = 0; i < doubts->pair_count; i++)
		left = left || met[i] < PLAN_PAIR_ROUNDS;
	return left;
}

/* Each node of a pair, with those it may meet: trusted ones, in no suspected pair with it. */
static void find_ends(const struct plan *plan, const struct plan_doubts *doubts,
		      struct suspects *ends)
{
	for (size_t node = 0; node < plan->nodes.len; node++) {
		enum plan_trust *trust = xcalloc(plan->nodes.len, sizeof(*trust));
		struct suspect end = { .node = (int)node };
		bool is_end = false;

		memcpy(trust, doubts->trust, plan->nodes.len * sizeof(*trust));
		trust[node] = PLAN_UNKNOWN;
		for (size_t i = 0; i < doubts->pair_count; i++) {
			const struct plan_pair *pair = &doubts->pairs[i];

			if (pair->a != end.node && pair->b != end.node)
				continue;
			trust[pair->a == end.node ? pair->b : pair->a] = PLAN_UNKNOWN;
			is_end = true;
		}
		if (is_end) {
			order_partners(plan, trust, &end);
			vec_push(&ends->list, end);
		}
		free(trust);
	}
}

static void confirm_pairs(const struct plan *plan, struct plan_stage *stage,
			  const struct plan_doubts *doubts, uint32_t rounds)
{
	uint32_t *met = xcalloc(doubts->pair_count + 1, sizeof(*met));
	struct suspects ends = { 0 };
	bool left = doubts->pair_count;

	find_ends(plan, doubts, &ends);
	for (uint32_t round = 0; left && round < rounds; round++) {
		left = meet_again(plan, stage, doubts, met);
		take_partners(plan, stage, ends.list.data, ends.list.len);
	}
	release_suspects(&ends);
	free(met);
}

int plan_confirm(struct plan *plan, const struct plan_doubts *doubts, uint32_t rounds,
		 char why[PLAN_WHY])
{
	const struct plan_stage *time = plan_stage(plan, STAGE_TIME);
	struct plan_stage stage = { .kind = STAGE_CONFIRM, .pairing = PAIRING_LIST };

	for (size_t i = 0; time && i < time->works.len; i++)
		vec_push(&stage.works, time->works.data[i]);
	confirm_nodes(plan, &stage, doubts, rounds);
	confirm_pairs(plan, &stage, doubts, rounds);
	memcpy(plan->base, plan->id, sizeof(plan->base));
	vec_push(&plan->stages, stage);
	free(plan_text(plan));
	return stage.rounds && stage.works.len
		       ? 0
		       : plan_refuse(why,
				     "nothing to confirm with: no suspects, no stage of times, "
				     "or no node that is above suspicion");
}
