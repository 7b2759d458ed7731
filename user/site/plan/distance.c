// SPDX-License-Identifier: BSD-3-Clause
/* How far nodes are from each other, by the switches above them. */
#include "site/plan/internal.h"

static int levels_above(const struct plan *plan, int at)
{
	int levels = 0;

	for (; at >= 0; at = plan->switches.data[at].parent)
		levels++;
	return levels;
}

int plan_levels(const struct plan *plan)
{
	int most = 0;

	for (size_t i = 0; i < plan->nodes.len; i++) {
		int levels = levels_above(plan, plan->nodes.data[i].leaf);

		most = levels > most ? levels : most;
	}
	return most;
}

int plan_above(const struct plan *plan, int node, int level)
{
	int at = plan->nodes.data[node].leaf;

	while (at >= 0 && --level > 0)
		at = plan->switches.data[at].parent;
	return at;
}

int plan_distance(const struct plan *plan, int a, int b)
{
	if (a == b)
		return 0;
	for (int level = 1;; level++) {
		int above = plan_above(plan, a, level);

		if (above < 0)
			return -1;
		if (above == plan_above(plan, b, level))
			return level;
	}
}
