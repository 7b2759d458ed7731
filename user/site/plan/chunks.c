// SPDX-License-Identifier: BSD-3-Clause
/*
 * A plan in parts, each of which is carried out by a job of its own: chunks of nodes that follow
 * each other by name, then as many parts again with nodes of all chunks, so that chunks are
 * compared.
 */
#include "site/plan/internal.h"

/* Of equal size, but for one node. In the second wave those of a chunk are dealt out to all parts.
 */
void plan_divide(struct plan *plan, uint32_t most)
{
	size_t nodes = plan->nodes.len, chunks = (nodes + most - 1) / most, dealt = 0;

	if (chunks < 2)
		return;
	for (size_t i = 0; i < PLAN_WAVES * nodes; i++)
		vec_push(&plan->parts, i * chunks / nodes);
	for (size_t chunk = 0; chunk < chunks; chunk++)
		for (size_t i = 0; i < nodes; i++) {
			uint32_t node = plan->order.data[i];

			if (plan->parts.data[node] == chunk)
				plan->parts.data[nodes + node] = chunks + dealt++ % chunks;
		}
}

void plan_chunks(const struct plan *plan, struct plan_stage *stage, uint32_t k)
{
	size_t nodes = plan->nodes.len;
	struct placed *list = calloc(nodes, sizeof(*list));
	uint32_t own = k / 2 + k % 2;

	for (size_t wave = 0; wave < PLAN_WAVES; wave++) {
		for (size_t i = 0; i < nodes; i++) {
			int node = plan->order.data[i];

			list[i] = (struct placed){ plan_part_in(plan, wave, node),
						   plan_part_in(plan, 0, node), node };
		}
		plan_meet(plan, stage, list, nodes, wave, wave && k > 1 ? k - own : own);
		if (!wave)
			stage->own = stage->rounds;
	}
	free(list);
}
