// SPDX-License-Identifier: BSD-3-Clause
/*
 * COV-03: what was planned is in the ledgers, once, and nothing else is; which is what captures
 * should have, too.
 */
#include "site/judge/rules/plan.h"

static const char *node_name(const struct look *look, int node)
{
	return node >= 0 ? look->sweep->plan->nodes.data[node].name : "all";
}

static void expect(struct map *map, uint64_t a, uint64_t b, uint64_t count)
{
	*map_insert(map, a, b, NULL) += count;
}

static void expect_messages(struct look *look, const struct sweep_rank *rank,
			    const struct sweep_rank *peer, const struct plan_step *step)
{
	size_t index = rank - look->sweep->ranks.data;
	const struct plan_work *work = step->work;

	if (step->world) {
		expect(&look->calls, index,
		       work->op == PLAN_ALLTOALL ? TRACED_ALLTOALL : TRACED_ALLREDUCE, work->count);
		return;
	}
	expect(&look->sent, index,
	       work->size * TRACED_MEMORIES +
		       (work->src_mem == PLAN_CUDA ? TRACED_GPU : TRACED_HOST),
	       work->count);
	expect(&look->met, index << 32 | (peer - look->sweep->ranks.data), work->size, work->count);
	look->notes[step->src].messages += work->count;
	look->notes[step->src].bytes += work->count * work->size;
}

static bool right_peer(const struct sweep_transfer *transfer, const struct plan_step *step,
		       const struct sweep_rank *peer)
{
	return step->world ? transfer->dst < 0 : transfer->dst_rank == peer->rank;
}

static void look_at_step(struct look *look, const struct plan_stage *stage, uint32_t round,
			 const struct plan_step *step)
{
	uint32_t job = sweep_job_of(look->sweep, stage, round, step->src);
	struct sweep_rank *rank = sweep_rank_at(look->sweep, job, step->src, step->src_local);
	struct sweep_rank *peer =
		step->world ? rank : sweep_rank_at(look->sweep, job, step->dst, step->dst_local);
	struct sweep_transfer *transfer;
	struct judge *judge = look->trial->judge;
	const char *text;

	if (!rank || !peer)
		return;
	transfer = sweep_transfer_of(look->sweep, stage, round, step);
	if (!transfer && !rank->ended)
		return;
	text = say(judge, "%s of %lu B to %s in round %u of stage %s",
		   plan_op_names[step->work->op], (unsigned long)step->work->size,
		   node_name(look, step->dst), round, plan_stage_names[stage->kind]);
	if (!transfer) {
		plan_note(look, step->src, VERDICT_FAIL,
			  say(judge, "rank %d wrote nothing of %s", rank->rank, text));
		return;
	}
	transfer->planned = true;
	if (transfer->times > 1)
		plan_note(look, step->src, VERDICT_FAIL,
			  say(judge, "rank %d wrote %d times of %s", rank->rank, transfer->times,
			      text));
	if (!right_peer(transfer, step, peer))
		plan_note(
			look, step->src, VERDICT_FAIL,
			say(judge, "rank %d met another rank than planned: %s", rank->rank, text));
	if (transfer->errors)
		plan_note(look, step->src, VERDICT_FAIL,
			  say(judge, "%u messages came with other content than was sent: %s",
			      transfer->errors, text));
	expect_messages(look, rank, peer, step);
}

/* Of any part; the stage that confirms has a job of its own. */
static bool asked_for(const struct look *look, const struct plan_stage *stage)
{
	size_t parts = plan_parts(look->sweep->plan);
	bool confirms = sweep_job_of(look->sweep, stage, 0, 0) == parts;

	for (size_t i = 0; i < look->sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &look->sweep->ranks.data[i];

		if (rank->stages & 1u << stage->kind && (rank->job == parts) == confirms)
			return true;
	}
	return false;
}

static void look_at_stage(struct look *look, const struct plan_stage *stage)
{
	const struct plan *plan = look->sweep->plan;
	plan_steps_t steps = { 0 };

	if (!asked_for(look, stage)) {
		found_why(look->trial, VERDICT_UNKNOWN, "all nodes",
			  say(look->trial->judge, "stage %s was not carried out",
			      plan_stage_names[stage->kind]));
		return;
	}
	for (uint32_t round = 0; round < stage->rounds; round++)
		for (size_t node = 0; node < plan->nodes.len; node++)
			for (int local = 0; local < plan->ranks; local++) {
				plan_steps(plan, stage, round, node, local, &steps);
				for (size_t i = 0; i < steps.len; i++)
					if (steps.data[i].sends)
						look_at_step(look, stage, round, &steps.data[i]);
			}
	vec_release(&steps);
}

static void look_for_unplanned(struct look *look)
{
	for (size_t i = 0; i < look->sweep->transfers.len; i++) {
		const struct sweep_transfer *transfer = &look->sweep->transfers.data[i];

		if (!transfer->planned)
			plan_note(look, transfer->src, VERDICT_FAIL,
				  say(look->trial->judge,
				      "%s of %lu B in round %u of stage %s was not planned",
				      plan_op_names[transfer->op],
				      (unsigned long)sweep_work(look->sweep, transfer)->size,
				      transfer->round, plan_stage_names[transfer->stage]));
	}
}

void plan_look_at_ledgers(struct look *look)
{
	for (size_t i = 0; i < look->sweep->plan->stages.len; i++)
		look_at_stage(look, &look->sweep->plan->stages.data[i]);
	look_for_unplanned(look);
}
