// SPDX-License-Identifier: BSD-3-Clause
/* Rounds in which the nodes of a group meet, all groups at once: below a switch, or in a part. */
#include "site/plan/internal.h"

static int by_group(const void *left, const void *right)
{
	const struct placed *a = left, *b = right;

	if (a->above != b->above)
		return (a->above > b->above) - (a->above < b->above);
	return (a->below > b->below) - (a->below < b->below);
}

static size_t end_of_group(const struct placed *list, size_t count, size_t from)
{
	size_t to = from;

	while (to < count && list[to].above == list[from].above)
		to++;
	return to;
}

/*
 * Nodes of a group, those of its branches side by side: the first half meets the second one,
 * each round shifted by one; who has the same branch, as some have that are in the middle, is idle.
 */
static void meet_across(int32_t *partners, const struct placed *list, size_t count, uint32_t round)
{
	size_t half = count / 2;

	for (size_t i = 0; i < half; i++) {
		const struct placed *a = &list[i], *b = &list[count - half + (i + round) % half];

		if (a->below != b->below)
			plan_pair(partners, a->node, b->node);
	}
}

static void meet_on_circle(int32_t *partners, const struct placed *list, size_t count,
			   uint32_t round)
{
	if (round >= circle_rounds(count))
		return;
	for (size_t i = 0; i < count; i++) {
		int other = circle_partner(count, round, i);

		if (other > (int)i)
			plan_pair(partners, list[i].node, list[other].node);
	}
}

void plan_meet(const struct plan *plan, struct plan_stage *stage, struct placed *list, size_t count,
	       bool across, uint32_t k)
{
	size_t to, rounds = 0;

	qsort(list, count, sizeof(*list), by_group);
	for (size_t from = 0; from < count; from = to) {
		size_t own;

		to = end_of_group(list, count, from);
		own = across ? (to - from) / 2 : circle_rounds(to - from);
		rounds = own > rounds ? own : rounds;
	}
	for (uint32_t round = 0; round < k && round < rounds; round++) {
		int32_t *partners = plan_round(plan, stage);

		for (size_t from = 0; from < count; from = to) {
			to = end_of_group(list, count, from);
			if (across)
				meet_across(partners, list + from, to - from, round);
			else
				meet_on_circle(partners, list + from, to - from, round);
		}
	}
}
