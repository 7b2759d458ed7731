// SPDX-License-Identifier: BSD-3-Clause
/* Which job carries out what, of a plan in parts (chunks.c makes them). */
#include "site/plan/internal.h"

size_t plan_parts(const struct plan *plan)
{
	uint32_t last = 0;

	for (size_t i = 0; i < plan->parts.len; i++)
		last = plan->parts.data[i] > last ? plan->parts.data[i] : last;
	return last + 1;
}

uint32_t plan_part_in(const struct plan *plan, size_t wave, int node)
{
	return plan->parts.len ? plan->parts.data[wave * plan->nodes.len + node] : 0;
}

uint32_t plan_part(const struct plan *plan, const struct plan_stage *stage, uint32_t round,
		   int node)
{
	return plan_part_in(plan, round >= stage->own, node);
}

bool plan_has(const struct plan *plan, uint32_t part, int node)
{
	return plan_part_in(plan, 0, node) == part || plan_part_in(plan, 1, node) == part;
}

/* Parts of the first wave come first. */
static bool is_chunk(const struct plan *plan, uint32_t part)
{
	return part < plan_parts(plan) / PLAN_WAVES;
}

bool plan_round_of(const struct plan *plan, const struct plan_stage *stage, uint32_t round,
		   uint32_t part)
{
	return !plan->parts.len || stage->kind == STAGE_CONFIRM ||
	       is_chunk(plan, part) == (round < stage->own);
}
