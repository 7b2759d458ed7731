// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/exhibits/sweep.h"

#include <string.h>

void sweep_plan(struct sweep *sweep, const struct plan *plan)
{
	sweep->plan = plan;
}

void sweep_release(struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->made.len; i++)
		free(sweep->made.data[i]);
	for (size_t i = 0; i < sweep->own.len; i++)
		plan_free(sweep->own.data[i]);
	vec_release(&sweep->own);
	vec_release(&sweep->made);
	vec_release(&sweep->jobs);
	free(sweep->untold);
	vec_release(&sweep->ranks);
	vec_release(&sweep->transfers);
	map_release(&sweep->by_place);
	map_release(&sweep->index);
	map_release(&sweep->captured);
	map_release(&sweep->by_member);
}

bool sweep_take_plan(struct sweep *sweep, struct plan *plan)
{
	const struct plan *old = sweep->plan;

	vec_push(&sweep->own, plan);
	if (!old || !strcmp(plan->base, old->id))
		sweep->plan = plan;
	return !old || sweep->plan == plan || !strcmp(old->id, plan->id) ||
	       !strcmp(old->base, plan->id);
}

const char *sweep_keep(struct sweep *sweep, const char *text)
{
	vec_push(&sweep->made, strdup(text));
	return sweep->made.data[sweep->made.len - 1];
}

static uint64_t place(uint32_t job, int node, int local)
{
	return (uint64_t)job << 32 | (uint32_t)(node * PLAN_MAX_RANKS + local);
}

void sweep_place_rank(struct sweep *sweep, size_t at)
{
	const struct sweep_rank *rank = &sweep->ranks.data[at];

	if (rank->node >= 0 && rank->local < PLAN_MAX_RANKS)
		*map_insert(&sweep->by_place, place(rank->job, rank->node, rank->local), 0, NULL) =
			at + 1;
}

void sweep_add_rank(struct sweep *sweep, const struct sweep_rank *rank)
{
	vec_push(&sweep->ranks, *rank);
	sweep_place_rank(sweep, sweep->ranks.len - 1);
}

struct sweep_rank *sweep_rank_at(const struct sweep *sweep, uint32_t job, int node, int local)
{
	const uint64_t *at = map_find(&sweep->by_place, place(job, node, local), 0);

	return at ? &sweep->ranks.data[*at - 1] : NULL;
}

static uint64_t what(unsigned int stage, uint32_t round, uint32_t sub, size_t work)
{
	return (uint64_t)stage << 56 | (uint64_t)(round & 0xffffff) << 32 | (sub & 0xffff) << 16 |
	       (work & 0xffff);
}

static uint64_t who(int node, int local)
{
	return (uint64_t)node << 8 | local;
}

void sweep_add_transfer(struct sweep *sweep, const struct sweep_transfer *transfer)
{
	bool fresh;
	uint64_t *at =
		map_insert(&sweep->index,
			   what(transfer->stage, transfer->round, transfer->sub, transfer->work),
			   who(transfer->src, transfer->src_local), &fresh);

	if (!fresh) {
		sweep->transfers.data[*at - 1].times += transfer->times;
		return;
	}
	vec_push(&sweep->transfers, *transfer);
	*at = sweep->transfers.len;
}

struct sweep_transfer *sweep_transfer_of(const struct sweep *sweep, const struct plan_stage *stage,
					 uint32_t round, const struct plan_step *step)
{
	const uint64_t *at = map_find(
		&sweep->index, what(stage->kind, round, step->sub, step->work - stage->works.data),
		who(step->src, step->src_local));

	return at ? &sweep->transfers.data[*at - 1] : NULL;
}

const struct plan_work *sweep_work(const struct sweep *sweep, const struct sweep_transfer *transfer)
{
	return &plan_stage(sweep->plan, transfer->stage)->works.data[transfer->work];
}

static bool tells(const struct sweep *sweep, int node)
{
	return node < 0 || !sweep->untold || !sweep->untold[node];
}

bool sweep_tells(const struct sweep *sweep, const struct sweep_transfer *transfer)
{
	return tells(sweep, transfer->src) && tells(sweep, transfer->dst);
}

uint32_t sweep_job_of(const struct sweep *sweep, const struct plan_stage *stage, uint32_t round,
		      int node)
{
	const struct plan *plan = sweep->plan;

	if (*plan->base && stage->kind == STAGE_CONFIRM)
		return plan_parts(plan);
	return plan_part(plan, stage, round, node);
}
