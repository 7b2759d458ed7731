// SPDX-License-Identifier: BSD-3-Clause
/*
 * COV-03: what was planned is in the ledgers, once, and in the captures, with its bytes. A node
 * that is not there, a rank that stopped, and one that was not traced are told apart; who had to
 * wait for another one is not to blame.
 */
#include <string.h>

#include "judge/gpus_used.h"
#include "judge/rules.h"

/* What is said of a node; the first of the gravest. */
struct note {
	enum verdict verdict;
	const char *text;
	uint64_t more; /* as grave ones that are not said */
	uint64_t messages, bytes; /* as they should be */
	int present; /* ranks that wrote a ledger */
};

struct look {
	const struct trial *trial;
	struct sweep *sweep;
	struct note *notes; /* by node */
	struct map sent, met; /* as traced's, but with ranks for processes */
	struct map calls; /* rank; call -> count */
	const char *stopped; /* why ranks did not come to their end, where one is to blame */
};

static int gravity(enum verdict verdict)
{
	return verdict == VERDICT_FAIL ? 2 : verdict == VERDICT_UNKNOWN;
}

static void note(struct look *look, int node, enum verdict verdict, const char *text)
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

static const char *node_name(const struct look *look, int node)
{
	return node >= 0 ? look->sweep->plan->nodes.data[node].name : "all";
}

/* What differs may be what was lost. */
static enum verdict wrong(const struct look *look)
{
	return look->trial->judge->incomplete ? VERDICT_UNKNOWN : VERDICT_FAIL;
}

/* ---- who stopped ---- */

static bool silent(const struct sweep_rank *rank)
{
	return !rank->ended && !rank->stuck;
}

/* Others had the time to write down where they waited; this one had not. */
static void blame_silent(struct look *look)
{
	for (size_t i = 0; i < look->sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &look->sweep->ranks.data[i];

		if (!silent(rank))
			continue;
		look->stopped =
			say(look->trial->judge,
			    "rank %d of %s hangs or has died, in round %u of stage %s", rank->rank,
			    rank->node_name, rank->round, plan_stage_names[rank->stage]);
		note(look, rank->node, VERDICT_FAIL, look->stopped);
	}
}

/* Both ends wait for the same, and the others for them. */
static void blame_waiting(struct look *look)
{
	for (size_t i = 0; i < look->sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &look->sweep->ranks.data[i];

		if (rank->ended || rank->waits_to < 0)
			continue;
		look->stopped = say(look->trial->judge, "no end of %s", rank->waits);
		note(look, rank->node, VERDICT_FAIL, look->stopped);
	}
}

static void find_stopped(struct look *look)
{
	size_t stuck = 0, open = 0;

	for (size_t i = 0; i < look->sweep->ranks.len; i++) {
		stuck += look->sweep->ranks.data[i].stuck;
		open += silent(&look->sweep->ranks.data[i]);
	}
	if (stuck && open)
		blame_silent(look);
	else if (stuck)
		blame_waiting(look);
	for (size_t i = 0; stuck + open && i < look->sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &look->sweep->ranks.data[i];

		if (!rank->ended)
			note(look, rank->node, VERDICT_UNKNOWN,
			     say(look->trial->judge, "rank %d did not come to its end: %s",
				 rank->rank,
				 look->stopped ? look->stopped
					       : "the job was ended, it is not known why"));
	}
}

/* ---- who was there ---- */

static void find_present(struct look *look)
{
	const struct plan *plan = look->sweep->plan;

	for (size_t i = 0; i < look->sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &look->sweep->ranks.data[i];

		if (rank->node >= 0 && !rank->again)
			look->notes[rank->node].present++;
	}
	for (size_t i = 0; i < plan->nodes.len; i++) {
		int present = look->notes[i].present;

		if (!present)
			note(look, i, VERDICT_UNKNOWN,
			     "no report: no ledger of this node is there");
		else if (present < plan->ranks)
			note(look, i, VERDICT_FAIL,
			     say(look->trial->judge,
				 "%d of %d ranks were started, or left a ledger", present,
				 plan->ranks));
	}
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
	bool again = sweep_again(look->sweep, stage);
	struct sweep_rank *rank = sweep_rank_at(look->sweep, again, step->src, step->src_local);
	struct sweep_rank *peer =
		step->world ? rank : sweep_rank_at(look->sweep, again, step->dst, step->dst_local);
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
		note(look, step->src, VERDICT_FAIL,
		     say(judge, "rank %d wrote nothing of %s", rank->rank, text));
		return;
	}
	transfer->planned = true;
	if (transfer->times > 1)
		note(look, step->src, VERDICT_FAIL,
		     say(judge, "rank %d wrote %d times of %s", rank->rank, transfer->times, text));
	if (!right_peer(transfer, step, peer))
		note(look, step->src, VERDICT_FAIL,
		     say(judge, "rank %d met another rank than planned: %s", rank->rank, text));
	if (transfer->errors)
		note(look, step->src, VERDICT_FAIL,
		     say(judge, "%u messages came with other content than was sent: %s",
			 transfer->errors, text));
	expect_messages(look, rank, peer, step);
}

static bool asked_for(const struct look *look, const struct plan_stage *stage)
{
	for (size_t i = 0; i < look->sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &look->sweep->ranks.data[i];

		if (rank->again == sweep_again(look->sweep, stage) &&
		    rank->stages & 1u << stage->kind)
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
			note(look, transfer->src, VERDICT_FAIL,
			     say(look->trial->judge,
				 "%s of %lu B in round %u of stage %s was not planned",
				 plan_op_names[transfer->op],
				 (unsigned long)sweep_work(look->sweep, transfer)->size,
				 transfer->round, plan_stage_names[transfer->stage]));
	}
}

/* ---- captures ---- */

static const struct sweep_rank *traced_rank(const struct look *look, size_t index)
{
	const struct sweep_rank *rank = &look->sweep->ranks.data[index];

	if (!rank->ended || rank->process < 0 ||
	    look->sweep->traced->processes.data[rank->process].counted)
		return NULL;
	return rank;
}

static void find_traced(struct look *look)
{
	for (size_t i = 0; i < look->sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &look->sweep->ranks.data[i];

		if (rank->process < 0 && sweep_captured(look->sweep, rank->host))
			note(look, rank->node, wrong(look),
			     say(look->trial->judge, "rank %d (pid %u) was not traced", rank->rank,
				 rank->pid));
		else if (rank->process < 0)
			note(look, rank->node, VERDICT_UNKNOWN,
			     "no capture of this node was given");
		else if (look->sweep->traced->processes.data[rank->process].counted)
			note(look, rank->node, VERDICT_UNKNOWN,
			     "its capture has sums alone (--count)");
	}
}

/* Of memory that is not known nothing is held against it. */
static void look_at_sent(struct look *look, size_t index, uint64_t size)
{
	const struct sweep_rank *rank = traced_rank(look, index);
	uint64_t planned[TRACED_MEMORIES], seen[TRACED_MEMORIES], all = 0, all_seen = 0;

	if (!rank)
		return;
	for (int i = 0; i < TRACED_MEMORIES; i++) {
		const uint64_t *count = map_find(&look->sent, index, size * TRACED_MEMORIES + i);

		planned[i] = count ? *count : 0;
		seen[i] = traced_sent(look->sweep->traced, rank->process, size, i);
		all += planned[i];
		all_seen += seen[i];
	}
	if (all != all_seen)
		note(look, rank->node, wrong(look),
		     say(look->trial->judge, "rank %d sent %lu messages of %lu B, %lu were traced",
			 rank->rank, (unsigned long)all, (unsigned long)size,
			 (unsigned long)all_seen));
	else if (seen[TRACED_GPU] > planned[TRACED_GPU] || seen[TRACED_HOST] > planned[TRACED_HOST])
		note(look, rank->node, wrong(look),
		     say(look->trial->judge,
			 "rank %d sent %lu of %lu messages of %lu B from GPU memory, %lu of them "
			 "were traced there",
			 rank->rank, (unsigned long)planned[TRACED_GPU], (unsigned long)all,
			 (unsigned long)size, (unsigned long)seen[TRACED_GPU]));
}

static void look_at_met(struct look *look, const struct map_slot *slot)
{
	const struct sweep_rank *src = traced_rank(look, slot->a >> 32);
	const struct sweep_rank *dst = traced_rank(look, slot->a & UINT32_MAX);
	uint64_t met;

	if (!src || !dst)
		return;
	met = traced_met(look->sweep->traced, src->process, dst->process, slot->b);
	if (met == slot->value)
		return;
	note(look, dst->node, wrong(look),
	     say(look->trial->judge,
		 "rank %d got %lu messages of %lu B from rank %d of %s, %lu were traced at both ends",
		 dst->rank, (unsigned long)slot->value, (unsigned long)slot->b, src->rank,
		 src->node_name, (unsigned long)met));
}

static void look_at_calls(struct look *look, const struct map_slot *slot)
{
	static const char *const names[TRACED_CALLS] = { "MPI_Alltoall", "MPI_Allreduce" };
	const struct sweep_rank *rank = traced_rank(look, slot->a);
	uint64_t seen;

	if (!rank)
		return;
	seen = look->sweep->traced->processes.data[rank->process].calls[slot->b];
	if (seen != slot->value)
		note(look, rank->node, wrong(look),
		     say(look->trial->judge, "rank %d called %s %lu times, %lu were traced",
			 rank->rank, names[slot->b], (unsigned long)slot->value,
			 (unsigned long)seen));
}

static void look_at_captures(struct look *look)
{
	struct map_slot *slot;

	find_traced(look);
	for (size_t pos = 0; (slot = map_next(&look->sent, &pos));)
		look_at_sent(look, slot->a, slot->b / TRACED_MEMORIES);
	for (size_t pos = 0; (slot = map_next(&look->met, &pos));)
		look_at_met(look, slot);
	for (size_t pos = 0; (slot = map_next(&look->calls, &pos));)
		look_at_calls(look, slot);
}

/* Ranks that all take the first GPU leave the others untried. */
static void look_at_gpus(struct look *look)
{
	const struct exhibits *exhibits = look->trial->exhibits;
	const struct plan *plan = look->sweep->plan;
	struct gpus_used used;

	gpus_used_init(&used, exhibits);
	for (size_t i = 0; i < exhibits->nodes.len; i++) {
		const struct node *node = &exhibits->nodes.data[i];
		int index = node->name ? plan_node(plan, node->name) : -1;
		int gpus = index < 0 ? 0 : plan->classes.data[plan->nodes.data[index].class].gpus;
		int seen = gpus_used_by(&used, node);

		if (seen > 0 && seen < gpus && seen < plan->ranks)
			note(look, index, wrong(look),
			     say(look->trial->judge, "%d ranks used %d of the node's %d GPUs",
				 plan->ranks, seen, gpus));
	}
	gpus_used_release(&used);
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
		found_why(trial, VERDICT_UNKNOWN, "all nodes",
			  look.sweep->foreign ? "the ledgers are of another plan"
					      : "no ledger of this plan was given");
		return;
	}
	look.notes = calloc(look.sweep->plan->nodes.len, sizeof(*look.notes));
	find_stopped(&look);
	find_present(&look);
	for (size_t i = 0; i < look.sweep->plan->stages.len; i++)
		look_at_stage(&look, &look.sweep->plan->stages.data[i]);
	look_for_unplanned(&look);
	look_at_captures(&look);
	look_at_gpus(&look);
	conclude(&look);
	map_release(&look.sent);
	map_release(&look.met);
	map_release(&look.calls);
	free(look.notes);
}
