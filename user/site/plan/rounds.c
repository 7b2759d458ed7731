// SPDX-License-Identifier: BSD-3-Clause
/* Rounds that are no circle: written down partner by partner. */
#include <errno.h>
#include <string.h>

#include "site/plan/internal.h"

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
