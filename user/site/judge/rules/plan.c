// SPDX-License-Identifier: BSD-3-Clause
/*
 * COV-03: the plan is in the ledgers, once, and in the captures, with its bytes. Distinguishes
 * missing nodes, stopped ranks and untraced ranks; a rank that waited for another one is not to
 * blame.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/memory_name.h"
#include "site/judge/aggregates/aggregates.h"
#include "site/judge/aggregates/cells.h"
#include "site/judge/rules/rules.h"

/* How many different GPUs the messages of each node came from and went to. */
struct gpus_used {
	struct map seen; /* node and its GPU */
	struct map counts; /* node -> how many */
	struct map vague; /* nodes of which it is not known of some */
};

/* The gravest report about a node; of several, the first. */
struct note {
	enum verdict verdict;
	const char *text;
	uint64_t more; /* as grave ones that are not said */
	uint64_t messages, bytes; /* as they should be */
};

struct plan_look {
	const struct rule_ctx *ctx;
	struct sweep *sweep;
	struct note *notes; /* by node */
	struct map sent, met; /* as traced's, but with ranks for processes */
	struct map calls; /* rank; call -> count */
};

static void use(struct gpus_used *used, const struct node *node, const char *memory)
{
	const struct memory_name name = memory_name_read(memory);
	bool fresh = false;

	if (!node || name.kind != MEMORY_GPU)
		return;
	if (name.device < 0)
		map_insert(&used->vague, (uintptr_t)node, 0, NULL);
	else
		map_insert(&used->seen, (uintptr_t)node, name.device, &fresh);
	if (fresh)
		++*map_insert(&used->counts, (uintptr_t)node, 0, NULL);
}

static void gpus_used_init(struct gpus_used *used, const struct aggregates *aggregates)
{
	*used = (struct gpus_used){ 0 };
	for (size_t i = 0; i < aggregates->sums.list.len; i++) {
		const struct sum *way = &aggregates->sums.list.data[i];

		if (way->kind != SUM_WAY)
			continue;
		use(used, aggregates_node(aggregates, way->process), way->words[WAY_SRC_MEM]);
		use(used, aggregates_node(aggregates, way->peer), way->words[WAY_DST_MEM]);
	}
}

static void gpus_used_release(struct gpus_used *used)
{
	map_release(&used->seen);
	map_release(&used->counts);
	map_release(&used->vague);
}

/* -1: not known. */
static int gpus_used_by(const struct gpus_used *used, const struct node *node)
{
	const uint64_t *count = map_find(&used->counts, (uintptr_t)node, 0);

	if (map_find(&used->vague, (uintptr_t)node, 0))
		return -1;
	return count ? (int)*count : 0;
}

/*
 * ---- where no rank came so far as to write a ledger ----
 *
 * MPI starts only when all ranks are there, so a node with too few of them is why.
 */

/* Processes of the traffic that captures have of each node of the plan; the caller frees it. */
static int *count_started(const struct rule_ctx *ctx)
{
	const struct aggregates *aggregates = ctx->aggregates;
	const struct plan *plan = ctx->judge->sweep.plan;
	int *started = xcalloc(plan->nodes.len, sizeof(*started));

	for (size_t i = 0; i < aggregates->members.len; i++) {
		const struct member *member = &aggregates->members.data[i];
		const char *host = member->fact.host_name;
		int node = host ? plan_node(plan, host) : -1;

		if (node >= 0 && traced_is(&aggregates->traced, member->id))
			started[node]++;
	}
	return started;
}

/* Returns how many nodes have some of their ranks, but not all. */
static int judge_started(const struct rule_ctx *ctx, const int *started)
{
	const struct plan *plan = ctx->judge->sweep.plan;
	int short_of = 0;

	for (size_t i = 0; i < plan->nodes.len; i++) {
		struct finding *finding;

		if (!started[i] || started[i] >= plan->ranks)
			continue;
		finding = found(ctx, VERDICT_FAIL, subject_node(plan->nodes.data[i].name));
		finding->expected = "all planned traffic, once";
		finding->seen = say(ctx->judge, "%d of %d ranks were started, and MPI on no node",
				    started[i], plan->ranks);
		short_of++;
	}
	return short_of;
}

/* Of COV-03, where no ledger is there. */
static void planned_without_ledgers(const struct rule_ctx *ctx)
{
	const struct sweep *sweep = &ctx->judge->sweep;
	int *started;

	if (sweep->foreign) {
		found_why(ctx, VERDICT_UNKNOWN, subject_plain(SUBJECT_OTHER, "all nodes"),
			  "the ledgers belong to another plan");
		return;
	}
	started = count_started(ctx);
	if (!judge_started(ctx, started))
		found_why(ctx, VERDICT_UNKNOWN, subject_plain(SUBJECT_OTHER, "all nodes"),
			  "no ledger of this plan was given");
	free(started);
}

/* ---- notes of nodes ---- */

static int gravity(enum verdict verdict)
{
	return verdict == VERDICT_FAIL ? 2 : verdict == VERDICT_UNKNOWN;
}

/* node < 0: the node is unknown, and none is blamed. */
static void plan_note(struct plan_look *look, int node, enum verdict verdict, const char *text)
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

/* Whether evidence of that node is missing: a difference may be due to that. */
static bool plan_lacks(const struct plan_look *look, int node)
{
	return node >= 0 &&
	       losses_has(&look->ctx->judge->losses, look->sweep->plan->nodes.data[node].name);
}

/*
 * ---- ranks that did not finish ----
 *
 * A rank that hangs or has died is to blame; the ranks that wait for it are not.
 */

#define NAMED 3 /* ranks, in a text */
#define MORE_TIME "allow more time with --limit, or send less with --max-size or --ranks"

static bool stopped(const struct sweep_rank *rank, uint32_t job)
{
	return rank->job == job && !rank->ended;
}

/*
 * Ranks that did not log where they waited, although others had time to, or that crashed. NULL:
 * none.
 */
static const char *hung(struct plan_look *look, uint32_t job)
{
	struct judge *judge = look->ctx->judge;
	const struct sweep_rank *first = NULL;
	const char *text = NULL;
	int count = 0;

	for (size_t i = 0; i < look->sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &look->sweep->ranks.data[i];

		if (!stopped(rank, job) || sweep_fate(look->sweep, rank) != FATE_HANGS)
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

/* All of them ran: operations show whether a message is stuck or only slow (COV-04). */
static const char *too_slow(const struct plan_look *look, uint32_t job)
{
	for (size_t i = 0; i < look->sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &look->sweep->ranks.data[i];

		if (stopped(rank, job) && sweep_fate(look->sweep, rank) == FATE_STUCK)
			return say(
				look->ctx->judge,
				"%s did not end within a round's time limit, and may only be slow: " MORE_TIME,
				rank->waits);
	}
	return NULL;
}

static const char *who_ended(const struct plan_look *look, uint32_t job)
{
	for (size_t i = 0; i < look->sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &look->sweep->ranks.data[i];

		if (stopped(rank, job) && rank->stuck == STUCK_TOO_LONG)
			return "a round exceeded its time limit: " MORE_TIME;
		if (stopped(rank, job) && rank->stuck == STUCK_LIMIT)
			return "the sweep stopped the job at its time limit: " MORE_TIME;
		if (stopped(rank, job) && rank->stuck == STUCK_INTERRUPTED)
			return "the sweep was interrupted, and stopped the job";
	}
	if (look->sweep->jobs.data[job].stopped)
		return "all of its ranks were stopped, and then ended";
	return "the job was ended for an unknown reason";
}

static void find_stopped(struct plan_look *look, uint32_t job)
{
	const char *why = hung(look, job);

	why = why ? why : too_slow(look, job);
	why = why ? why : who_ended(look, job);
	for (size_t i = 0; i < look->sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &look->sweep->ranks.data[i];

		if (stopped(rank, job))
			plan_note(look, rank->node, VERDICT_UNKNOWN,
				  say(look->ctx->judge, "rank %d did not come to its end: %s",
				      rank->rank, why));
	}
}

/* Notes the ranks of each job that did not finish, and the reason. */
static void plan_look_for_stopped(struct plan_look *look)
{
	for (uint32_t job = 0; job <= plan_parts(look->sweep->plan); job++)
		find_stopped(look, job);
}

/* ---- ledgers have the plan, once, and nothing else ---- */

static const char *node_name(const struct plan_look *look, int node)
{
	return node >= 0 ? look->sweep->plan->nodes.data[node].name : "all";
}

static void expect(struct map *map, uint64_t a, uint64_t b, uint64_t count)
{
	*map_insert(map, a, b, NULL) += count;
}

static void expect_messages(struct plan_look *look, const struct sweep_rank *rank,
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

static void look_at_step(struct plan_look *look, const struct plan_stage *stage, uint32_t round,
			 const struct plan_step *step)
{
	uint32_t job = sweep_job_of(look->sweep, stage, round, step->src);
	struct sweep_rank *rank = sweep_rank_at(look->sweep, job, step->src, step->src_local);
	struct sweep_rank *peer =
		step->world ? rank : sweep_rank_at(look->sweep, job, step->dst, step->dst_local);
	struct sweep_transfer *transfer;
	struct judge *judge = look->ctx->judge;
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
			  say(judge, "rank %d recorded nothing about %s", rank->rank, text));
		return;
	}
	transfer->planned = true;
	if (transfer->times > 1)
		plan_note(look, step->src, VERDICT_FAIL,
			  say(judge, "rank %d recorded %d times: %s", rank->rank, transfer->times,
			      text));
	if (!right_peer(transfer, step, peer))
		plan_note(look, step->src, VERDICT_FAIL,
			  say(judge,
			      "rank %d exchanged messages with another rank than planned: %s",
			      rank->rank, text));
	if (transfer->errors)
		plan_note(look, step->src, VERDICT_FAIL,
			  say(judge, "%u messages arrived with other content than was sent: %s",
			      transfer->errors, text));
	expect_messages(look, rank, peer, step);
}

/* Whether any part had this stage; the stage that confirms has a job of its own. */
static bool asked_for(const struct plan_look *look, const struct plan_stage *stage)
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

static void look_at_stage(struct plan_look *look, const struct plan_stage *stage)
{
	const struct plan *plan = look->sweep->plan;
	plan_steps_t steps = { 0 };

	if (!asked_for(look, stage)) {
		found_why(look->ctx, VERDICT_UNKNOWN, subject_plain(SUBJECT_OTHER, "all nodes"),
			  say(look->ctx->judge, "stage %s was not carried out",
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

static void look_for_unplanned(struct plan_look *look)
{
	for (size_t i = 0; i < look->sweep->transfers.len; i++) {
		const struct sweep_transfer *transfer = &look->sweep->transfers.data[i];

		if (!transfer->planned)
			plan_note(look, transfer->src, VERDICT_FAIL,
				  say(look->ctx->judge,
				      "%s of %lu B in round %u of stage %s was not planned",
				      plan_op_names[transfer->op],
				      (unsigned long)sweep_work(look->sweep, transfer)->size,
				      transfer->round, plan_stage_names[transfer->stage]));
	}
}

/* Compares ledgers with the plan, and collects the traffic that captures should have. */
static void plan_look_at_ledgers(struct plan_look *look)
{
	for (size_t i = 0; i < look->sweep->plan->stages.len; i++)
		look_at_stage(look, &look->sweep->plan->stages.data[i]);
	look_for_unplanned(look);
}

/* ---- captures have what the ledgers tell ---- */

/* A difference may be due to lost records. */
static enum verdict wrong(const struct plan_look *look, int node)
{
	return look->ctx->judge->incomplete || plan_lacks(look, node) ? VERDICT_UNKNOWN
								      : VERDICT_FAIL;
}

static const struct sweep_rank *traced_rank(const struct plan_look *look, size_t index)
{
	const struct sweep_rank *rank = &look->sweep->ranks.data[index];

	if (!rank->ended || rank->process < 0 ||
	    look->sweep->traced->processes.data[rank->process].counted)
		return NULL;
	return rank;
}

static void find_traced(struct plan_look *look)
{
	for (size_t i = 0; i < look->sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &look->sweep->ranks.data[i];

		if (rank->process < 0 && sweep_captured(look->sweep, rank->host))
			plan_note(look, rank->node, wrong(look, rank->node),
				  say(look->ctx->judge, "rank %d (pid %u) was not traced",
				      rank->rank, rank->pid));
		else if (rank->process < 0)
			plan_note(look, rank->node, VERDICT_UNKNOWN,
				  "no capture of this node was given");
		else if (look->sweep->traced->processes.data[rank->process].counted)
			plan_note(look, rank->node, VERDICT_UNKNOWN,
				  plan_lacks(look, rank->node)
					  ? "some of its records are only in sums (COV-01)"
					  : "its capture has only sums (--count)");
	}
}

/* Messages with unknown memory are not counted as wrong. */
static void look_at_sent(struct plan_look *look, size_t index, uint64_t size)
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
		plan_note(look, rank->node, wrong(look, rank->node),
			  say(look->ctx->judge,
			      "rank %d sent %lu messages of %lu B, %lu were traced", rank->rank,
			      (unsigned long)all, (unsigned long)size, (unsigned long)all_seen));
	else if (seen[TRACED_GPU] > planned[TRACED_GPU] || seen[TRACED_HOST] > planned[TRACED_HOST])
		plan_note(
			look, rank->node, wrong(look, rank->node),
			say(look->ctx->judge,
			    "rank %d sent %lu of %lu messages of %lu B from GPU memory, %lu of them "
			    "were traced there",
			    rank->rank, (unsigned long)planned[TRACED_GPU], (unsigned long)all,
			    (unsigned long)size, (unsigned long)seen[TRACED_GPU]));
}

static void look_at_met(struct plan_look *look, const struct map_slot *slot)
{
	const struct sweep_rank *src = traced_rank(look, slot->a >> 32);
	const struct sweep_rank *dst = traced_rank(look, slot->a & UINT32_MAX);
	uint64_t met;
	int node;

	if (!src || !dst)
		return;
	/* if a message has one end, the other one is missing */
	node = plan_lacks(look, src->node) ? src->node : dst->node;
	met = traced_met(look->sweep->traced, src->process, dst->process, slot->b);
	if (met == slot->value)
		return;
	plan_note(
		look, node, wrong(look, node),
		say(look->ctx->judge,
		    "rank %d got %lu messages of %lu B from rank %d of %s, %lu were traced at both ends",
		    dst->rank, (unsigned long)slot->value, (unsigned long)slot->b, src->rank,
		    src->node_name, (unsigned long)met));
}

static void look_at_calls(struct plan_look *look, const struct map_slot *slot)
{
	static const char *const names[TRACED_CALLS] = { "MPI_Alltoall", "MPI_Allreduce" };
	const struct sweep_rank *rank = traced_rank(look, slot->a);
	uint64_t seen;

	if (!rank)
		return;
	seen = look->sweep->traced->processes.data[rank->process].calls[slot->b];
	if (seen != slot->value)
		plan_note(look, rank->node, wrong(look, rank->node),
			  say(look->ctx->judge, "rank %d called %s %lu times, %lu were traced",
			      rank->rank, names[slot->b], (unsigned long)slot->value,
			      (unsigned long)seen));
}

/* Compares captures with the ledgers' messages; after the ledgers. */
static void plan_look_at_captures(struct plan_look *look)
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
static void plan_look_at_gpus(struct plan_look *look)
{
	const struct aggregates *aggregates = look->ctx->aggregates;
	const struct plan *plan = look->sweep->plan;
	struct gpus_used used;

	gpus_used_init(&used, aggregates);
	for (size_t i = 0; i < aggregates->nodes.len; i++) {
		const struct node *node = &aggregates->nodes.data[i];
		int index = node->name ? plan_node(plan, node->name) : -1;
		int gpus = index < 0 ? 0 : plan->classes.data[plan->nodes.data[index].class].gpus;
		int seen = gpus_used_by(&used, node);

		if (seen > 0 && seen < gpus && seen < plan->ranks)
			plan_note(look, index, wrong(look, index),
				  say(look->ctx->judge, "%d ranks used %d of the node's %d GPUs",
				      plan->ranks, seen, gpus));
	}
	gpus_used_release(&used);
}

/* ---- the rule ---- */

/* In one of the jobs that it has a part in. */
static void find_ranks(struct plan_look *look, int node, uint32_t job)
{
	const struct plan *plan = look->sweep->plan;
	int present = 0;

	for (int local = 0; local < plan->ranks; local++)
		present += sweep_rank_at(look->sweep, job, node, local) != NULL;
	if (!present && plan->parts.len)
		plan_note(look, node, VERDICT_UNKNOWN,
			  say(look->ctx->judge,
			      "no report of part %u: no ledger of this node is there", job));
	else if (!present)
		plan_note(look, node, VERDICT_UNKNOWN,
			  "no report: no ledger of this node is there");
	else if (present < plan->ranks)
		plan_note(look, node, plan_lacks(look, node) ? VERDICT_UNKNOWN : VERDICT_FAIL,
			  say(look->ctx->judge, "%d of %d ranks were started, or left a ledger",
			      present, plan->ranks));
}

static void find_present(struct plan_look *look)
{
	const struct plan *plan = look->sweep->plan;

	for (size_t i = 0; i < plan->nodes.len; i++)
		for (size_t wave = 0; wave < (plan->parts.len ? PLAN_WAVES : 1); wave++)
			find_ranks(look, i, plan_part_in(plan, wave, i));
}

static void conclude(const struct plan_look *look)
{
	const struct plan *plan = look->sweep->plan;
	struct judge *judge = look->ctx->judge;

	for (size_t i = 0; i < plan->nodes.len; i++) {
		const struct note *said = &look->notes[i];
		struct finding *finding =
			found(look->ctx, said->verdict, subject_node(plan->nodes.data[i].name));
		const char *text = said->text;

		finding->expected = "all planned traffic, once";
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

void rule_planned(const struct rule_ctx *ctx)
{
	struct plan_look look = { .ctx = ctx, .sweep = &ctx->judge->sweep };

	if (!look.sweep->ranks.len) {
		planned_without_ledgers(ctx);
		return;
	}
	look.notes = xcalloc(look.sweep->plan->nodes.len, sizeof(*look.notes));
	plan_look_for_stopped(&look);
	find_present(&look);
	plan_look_at_ledgers(&look);
	plan_look_at_captures(&look);
	plan_look_at_gpus(&look);
	conclude(&look);
	map_release(&look.sent);
	map_release(&look.met);
	map_release(&look.calls);
	free(look.notes);
}
