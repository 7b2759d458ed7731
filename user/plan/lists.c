// SPDX-License-Identifier: BSD-3-Clause
/* Rounds that are no circle: written down partner by partner. */
#include <errno.h>
#include <string.h>

#include "plan/internal.h"

int32_t *plan_round(const struct plan *plan, struct plan_stage *stage)
{
	size_t from = stage->partners.len;

	for (size_t i = 0; i < plan->nodes.len; i++)
		vec_push(&stage->partners, PLAN_IDLE);
	stage->rounds++;
	return stage->partners.data + from;
}

void plan_pair(int32_t *partners, int a, int b)
{
	partners[a] = b;
	partners[b] = a;
}

/* ---- custom:FILE ---- */

static int custom_line(const struct plan *plan, struct plan_stage *stage, char *line, long *last,
		       char why[PLAN_WHY])
{
	char one[256], other[256];
	int32_t *partners;
	int a, b, end = 0;
	long round;

	line[strcspn(line, "#\n")] = '\0';
	if (!line[strspn(line, " \t\r")])
		return 0;
	if (sscanf(line, "%ld %255s %255s %n", &round, one, other, &end) != 3 || line[end])
		return plan_refuse(why, "not 'ROUND NODE NODE'");
	a = plan_node(plan, one);
	b = plan_node(plan, other);
	if (a < 0 || b < 0)
		return plan_refuse(why, "node '%.100s' is not of this sweep", a < 0 ? one : other);
	if (round < *last)
		return plan_refuse(why, "round %ld comes behind round %ld", round, *last);
	partners = round > *last ? plan_round(plan, stage)
				 : stage->partners.data + stage->partners.len - plan->nodes.len;
	*last = round;
	if (a == b || partners[a] != PLAN_IDLE || partners[b] != PLAN_IDLE)
		return plan_refuse(why, "a node may meet one other node in a round");
	plan_pair(partners, a, b);
	return 0;
}

int plan_custom(const struct plan *plan, struct plan_stage *stage, const char *path,
		char why[PLAN_WHY])
{
	FILE *file = fopen(path, "re");
	char *line = NULL, wrong[PLAN_WHY];
	size_t room = 0, number = 0;
	long last = -1;
	int err = 0;

	if (!file)
		return plan_refuse(why, "%.180s: %s", path, strerror(errno));
	while (!err && getline(&line, &room, file) >= 0) {
		number++;
		err = custom_line(plan, stage, line, &last, wrong);
	}
	if (err)
		plan_refuse(why, "%.100s:%zu: %.120s", path, number, wrong);
	else if (!stage->rounds)
		err = plan_refuse(why, "%.180s: no round in it", path);
	free(line);
	fclose(file);
	return err;
}

/* ---- two groups, each node of one meets those of the other one in turn ---- */

struct group {
	VEC(int) nodes;
};

static void add_meetings(const struct plan *plan, struct plan_stage *stage, const struct group *few,
			 const struct group *many)
{
	for (size_t round = 0; round < many->nodes.len && few->nodes.len; round++) {
		int32_t *partners = plan_round(plan, stage);

		for (size_t i = 0; i < few->nodes.len; i++)
			plan_pair(partners, few->nodes.data[i],
				  many->nodes.data[(i + round) % many->nodes.len]);
	}
}

/* All pairs of nodes of different classes, once each. */
int plan_cross_class(const struct plan *plan, struct plan_stage *stage, char why[PLAN_WHY])
{
	struct group *groups = calloc(plan->classes.len, sizeof(*groups));

	for (size_t i = 0; i < plan->order.len; i++) {
		int node = plan->order.data[i];

		vec_push(&groups[plan->nodes.data[node].class].nodes, node);
	}
	for (size_t a = 0; a < plan->classes.len; a++)
		for (size_t b = a + 1; b < plan->classes.len; b++) {
			bool more = groups[a].nodes.len > groups[b].nodes.len;

			add_meetings(plan, stage, &groups[more ? b : a], &groups[more ? a : b]);
		}
	for (size_t i = 0; i < plan->classes.len; i++)
		vec_release(&groups[i].nodes);
	free(groups);
	return stage->rounds ? 0 : plan_refuse(why, "cross-class: all nodes are of one class");
}

/* ---- topo:K ---- */

static void add_level(const struct plan *plan, struct plan_stage *stage, int level, uint32_t k,
		      struct placed *list)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->order.len; i++) {
		int node = plan->order.data[i];
		const struct placed placed = {
			.above = plan_above(plan, node, level),
			.below = level > 1 ? plan_above(plan, node, level - 1) : node,
			.node = node,
		};

		if (placed.above >= 0)
			list[count++] = placed;
	}
	plan_meet(plan, stage, list, count, level > 1, k);
}

int plan_topo(const struct plan *plan, struct plan_stage *stage, uint32_t k, char why[PLAN_WHY])
{
	struct placed *list = calloc(plan->nodes.len, sizeof(*list));

	for (int level = 1; level <= plan_levels(plan); level++)
		add_level(plan, stage, level, k, list);
	free(list);
	return stage->rounds ? 0
			     : plan_refuse(why, "topo: the policy's topology puts no two nodes "
						"below one switch");
}

/* ---- the stage that confirms ---- */

#define PLAN_PAIR_ROUNDS 3 /* that a suspected pair meets again */

/* Trusted nodes that a suspect has not met come first, in the order of the circle. */
static void order_partners(const struct plan *plan, const enum plan_trust *trust, int suspect,
			   struct group *fresh)
{
	const struct plan_stage *time = plan_stage(plan, STAGE_TIME);
	bool *met = calloc(plan->nodes.len, sizeof(*met));

	for (uint32_t round = 0; time && round < time->rounds; round++) {
		int partner = plan_partner(plan, time, round, suspect);

		if (partner != PLAN_IDLE)
			met[partner] = true;
	}
	for (int known = 0; known < 2; known++)
		for (size_t i = 0; i < plan->order.len; i++) {
			int node = plan->order.data[i];

			if (trust[node] == PLAN_TRUSTED && met[node] == known)
				vec_push(&fresh->nodes, node);
		}
	free(met);
}

struct suspect {
	int node;
	struct group partners; /* -1: it has met that one */
};

/* Each suspect takes the first of its list that nobody has in this round, and it not before. */
static void take_partners(const struct plan *plan, struct plan_stage *stage,
			  const struct suspect *suspects, size_t count)
{
	int32_t *partners = plan_round(plan, stage);

	for (size_t s = 0; s < count; s++)
		for (size_t i = 0; i < suspects[s].partners.nodes.len; i++) {
			int *node = &suspects[s].partners.nodes.data[i];

			if (*node < 0 || partners[*node] != PLAN_IDLE ||
			    partners[suspects[s].node] != PLAN_IDLE)
				continue;
			plan_pair(partners, suspects[s].node, *node);
			*node = -1;
			break;
		}
}

struct suspects {
	VEC(struct suspect) list;
};

static void release_suspects(struct suspects *suspects)
{
	for (size_t i = 0; i < suspects->list.len; i++)
		vec_release(&suspects->list.data[i].partners.nodes);
	vec_release(&suspects->list);
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
		order_partners(plan, doubts->trust, suspects.list.data[i].node,
			       &suspects.list.data[i].partners);
	for (uint32_t round = 0; suspects.list.len && round < rounds && round < trusted; round++)
		take_partners(plan, stage, suspects.list.data, suspects.list.len);
	release_suspects(&suspects);
}

/* Pairs of nodes that are all free meet, those first that have met least often. */
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
		enum plan_trust *trust = calloc(plan->nodes.len, sizeof(*trust));
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
			order_partners(plan, trust, end.node, &end.partners);
			vec_push(&ends->list, end);
		}
		free(trust);
	}
}

static void confirm_pairs(const struct plan *plan, struct plan_stage *stage,
			  const struct plan_doubts *doubts, uint32_t rounds)
{
	uint32_t *met = calloc(doubts->pair_count + 1, sizeof(*met));
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
