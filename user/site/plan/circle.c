// SPDX-License-Identifier: BSD-3-Clause
/* The circle method: one stays, the others go round, and who is opposite meets. */
#include "site/plan/internal.h"

/* splitmix64: public domain, by Sebastiano Vigna */
uint64_t plan_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

uint32_t circle_rounds(uint32_t n)
{
	return n < 2 ? 0 : n % 2 ? n : n - 1;
}

/* With an odd number there is one more place, and who meets that one is idle. */
int circle_partner(uint32_t n, uint32_t round, uint32_t position)
{
	uint32_t moving = circle_rounds(n), fixed = moving, partner;

	if (n < 2)
		return -1;
	if (position == fixed)
		partner = round % moving;
	else {
		/* positions that add up to twice the round meet; who is its own partner meets the
		 * one that stays
		 */
		partner = (2 * (round % moving) + moving - position) % moving;
		if (partner == position)
			partner = fixed;
	}
	return partner >= n ? -1 : (int)partner;
}

void plan_shuffle(struct plan *plan)
{
	uint64_t state = plan->seed;
	uint32_t n = plan->nodes.len;

	for (uint32_t i = 0; i < n; i++) {
		vec_push(&plan->order, i);
		vec_push(&plan->place, 0);
	}
	for (uint32_t i = n; i > 1; i--) {
		uint32_t other = plan_random(&state) % i, kept = plan->order.data[i - 1];

		plan->order.data[i - 1] = plan->order.data[other];
		plan->order.data[other] = kept;
	}
	for (uint32_t i = 0; i < n; i++)
		plan->place.data[plan->order.data[i]] = i;
}

void plan_repeat(const struct plan *plan, struct plan_stage *stage, uint32_t times)
{
	uint32_t all = circle_rounds(plan->nodes.len);

	for (uint32_t i = 0; all && i < times * all && i < PLAN_MAX_NODES; i++)
		vec_push(&stage->circle, i % all);
	stage->rounds = stage->circle.len;
}

/* Each round is taken with the chance that is left for it: none twice, and in order. */
void plan_sample(const struct plan *plan, struct plan_stage *stage, uint32_t k)
{
	uint32_t all = circle_rounds(plan->nodes.len);
	uint64_t state = ~plan->seed;

	k = k < all ? k : all;
	for (uint32_t round = 0; round < all && k; round++) {
		if (plan_random(&state) % (all - round) >= k)
			continue;
		vec_push(&stage->circle, round);
		k--;
	}
	stage->rounds = stage->circle.len;
}
