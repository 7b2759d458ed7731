// SPDX-License-Identifier: BSD-3-Clause
/*
 * COV-03: what was planned is in the ledgers, once, and in the captures, with its bytes. A node
 * that is not there, a rank that stopped, and one that was not traced are told apart; who had to
 * wait for another one is not to blame.
 */
#include <string.h>

#include "judge/rules/plan.h"

static int gravity(enum verdict verdict)
{
	return verdict == VERDICT_FAIL ? 2 : verdict == VERDICT_UNKNOWN;
}

void plan_note(struct look *look, int node, enum verdict verdict, const char *text)
{
	struct note *note = node >= 0 ? &look->notes[node] : NULL;

	if (!note)
		return;
	if (verdict == note->verdict)
		note->more++;
	if (gravity(verdict) <= gravity(note->verdict))
		return;
	note->verdict = verdict;
	note->text = text;
	note->more = 0;
}

bool plan_lacks(const struct look *look, int node)
{
	return node >= 0 &&
	       losses_has(&look->trial->judge->losses, look->sweep->plan->nodes.data[node].name);
}

static const char *node_name(const struct look *look, int node)
{
	return node >= 0 ? look->sweep->plan->nodes.data[node].name : "all";
}

/* ---- who stopped ---- */

#define NAMED 3 /* ranks, in a text */
#define MORE_TIME "more time by --limit, less to send by --max-size or --ranks"

static bool in_job(const struct look *look, const struct sweep_rank *rank)
{
	return rank->job == look->job && !rank->ended;
}

/*
 * Others had the time to write down where they waited, these had not; or they crashed. NULL: there
 * is none.
 */
static const char *hung(struct look *look)
{
	struct judge *judge = look->trial->judge;
	const struct sweep_rank *first = NULL;
	const char *text = NULL;
	int count = 0;

	for (size_t i = 0; i < look->sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &look->sweep->ranks.data[i];

		if (!in_job(look, rank) || sweep_fate(look->sweep, rank) != FATE_HANGS)
			continue;
		plan_note(look, rank->node, VERDICT_FAIL,
			  say(judge, "rank %d of %s %s, in round %u of stage %s", rank->rank,
			      rank->node_name, rank->gone, rank->round,
			      plan_stage_names[rank->stage]));
		if (count++ < NAMED)
			text = text ? say(judge, "%s, rank %d of %s", text, rank->rank,
					  rank->node_name)
				    : say(judge, "rank %d of %s", rank->rank, rank->node_name);
		first = first ? first : rank;
	}
	if (!first)
		return NULL;
	if (count > NAMED)
		text = say(judge, "%s and %d more", text, count - NAMED);
	if (count > 1)
		return say(judge, "%s %s", text,
			   sweep_died(first) ? "have died of a signal" : "hang or have died");
	return say(judge, "%s %s, in round %u of stage %s", text, first->gone, first->round,
		   plan_stage_names[first->stage]);
}

/* All of them ran: whether a message gets stuck or is only slow, operations tell (COV-04). */
static const char *too_slow(struct look *look)
{
	for (size_t i = 0; i < look->sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &look->sweep->ranks.data[i];

		if (in_job(look, rank) && sweep_fate(look->sweep, rank) == FATE_STUCK)
			return say(
				look->trial->judge,
				"no end of %s within a round's time, which may only be slow: " MORE_TIME,
				rank->waits);
	}
	return NULL;
}

static const char *who_ended(const struct look *look)
{
	for (size_t i = 0; i < look->sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &look->sweep->ranks.data[i];

		if (in_job(look, rank) && rank->stuck == STUCK_TOO_LONG)
			return "a round took longer than it may: " MORE_TIME;
		if (in_job(look, rank) && rank->stuck == STUCK_LIMIT)
			return "the sweep stopped the job at its time limit: " MORE_TIME;
		if (in_job(look, rank) && rank->stuck == STUCK_INTERRUPTED)
			return "the sweep was interrupted, and stopped the job";
	}
	return "the job was ended, it is not known why";
}

static void find_stopped(struct look *look)
{
	look->stopped = hung(look);
	look->stopped = look->stopped ? look->stopped : too_slow(look);
	look->stopped = look->stopped ? look->stopped : who_ended(look);
	for (size_t i = 0; i < look->sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &look->sweep->ranks.data[i];

		if (in_job(look, rank))
			plan_note(look, rank->node, VERDICT_UNKNOWN,
				  say(look->trial->judge, "rank %d did not come to its end: %s",
				      rank->rank, look->stopped));
	}
}

/* ---- who was there ---- */

/* In one of the jobs that it has a part in. */
static void find_ranks(struct look *look, int node, uint32_t job)
{
	const struct plan *plan = look->sweep->plan;
	int present = 0;

	for (int local = 0; local < plan->ranks; local++)
		present += sweep_rank_at(look->sweep, job, node, local) != NULL;
	if (!present && plan->parts.len)
		plan_note(look, node, VERDICT_UNKNOWN,
			  say(look->trial->judge,
			      "no report of part %u: no ledger of this node is there", job));
	else if (!present)
		plan_note(look, node, VERDICT_UNKNOWN,
			  "no report: no ledger of this node is there");
	else if (present < plan->ranks)
		plan_note(look, node, plan_lacks(look, node) ? VERDICT_UNKNOWN : VERDICT_FAIL,
			  say(look->trial->judge, "%d of %d ranks were started, or left a ledger",
			      present, plan->ranks));
}

static void find_present(struct look *look)
{
	const struct plan *plan = look->sweep->plan;

	for (size_t i = 0; i < plan->nodes.len; i++)
		for (size_t wave = 0; wave < (plan->parts.len ? PLAN_WAVES : 1); wave++)
			find_ranks(look, i, plan_part_in(plan, wave, i));
}

/* ---- ledgers ---- */

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

/* ---- */

static void conclude(const struct look *look)
{
	const struct plan *plan = look->sweep->plan;
	struct judge *judge = look->trial->judge;

	for (size_t i = 0; i < plan->nodes.len; i++) {
		const struct note *said = &look->notes[i];
		struct finding *finding =
			found(look->trial, said->verdict, plan->nodes.data[i].name);
		const char *text = said->text;

		finding->expected = "all that was planned, once";
		finding->count = said->messages;
		finding->bytes = said->bytes;
		if (said->more)
			text = say(judge, "%s; and %lu more", text, (unsigned long)said->more);
		if (said->verdict == VERDICT_FAIL)
			finding->seen = text;
		else if (said->verdict == VERDICT_UNKNOWN)
			finding->why = text;
	}
}

void rule_planned(const struct trial *trial)
{
	struct look look = { .trial = trial, .sweep = &trial->judge->sweep };

	if (!look.sweep->ranks.len) {
		planned_without_ledgers(trial);
		return;
	}
	look.notes = calloc(look.sweep->plan->nodes.len, sizeof(*look.notes));
	for (; look.job <= plan_parts(look.sweep->plan); look.job++)
		find_stopped(&look);
	find_present(&look);
	for (size_t i = 0; i < look.sweep->plan->stages.len; i++)
		look_at_stage(&look, &look.sweep->plan->stages.data[i]);
	look_for_unplanned(&look);
	plan_look_at_captures(&look);
	plan_look_at_gpus(&look);
	conclude(&look);
	map_release(&look.sent);
	map_release(&look.met);
	map_release(&look.calls);
	free(look.notes);
}
