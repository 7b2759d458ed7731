// SPDX-License-Identifier: BSD-3-Clause
/* What a rank's ledger says, line by line. */
#include <stdio.h>
#include <string.h>

#include "site/judge/exhibits/sweep.h"

/* A plan that was extended by the stage that confirms had another id before. */
static bool of_plan(const struct sweep *sweep, const char *id, uint32_t *job)
{
	const struct plan *plan = sweep->plan;

	if (*plan->base && !strcmp(id, plan->id))
		*job = plan_parts(plan);
	return !strcmp(id, plan->id) || (*plan->base && !strcmp(id, plan->base));
}

static void add_rank(struct sweep *sweep, const struct ledger_entry *entry)
{
	struct sweep_rank rank = {
		.node = plan_node(sweep->plan, entry->node),
		.local = entry->local,
		.rank = entry->rank,
		.size = entry->size,
		.pid = entry->pid,
		.job = entry->part,
		.stages = entry->stages,
		.waits_from = -1,
		.waits_to = -1,
		.process = -1,
	};

	sweep->current = 0;
	if (entry->part >= plan_parts(sweep->plan) || !of_plan(sweep, entry->plan, &rank.job)) {
		sweep->foreign++;
		return;
	}
	rank.host = sweep_keep(sweep, entry->host);
	rank.node_name = sweep_keep(sweep, entry->node);
	sweep_add_rank(sweep, &rank);
	sweep->current = sweep->ranks.len;
}

static int work_of(const struct plan_stage *stage, const struct ledger_entry *entry)
{
	for (size_t i = 0; stage && i < stage->works.len; i++) {
		const struct plan_work *work = &stage->works.data[i];

		if (work->size == entry->msg_size && work->op == entry->op &&
		    work->src_mem == entry->src_mem && work->dst_mem == entry->dst_mem &&
		    work->count == entry->count)
			return i;
	}
	return -1;
}

static void add_transfer(struct sweep *sweep, const struct sweep_rank *rank,
			 const struct ledger_entry *entry)
{
	const struct plan_stage *stage = plan_stage(sweep->plan, entry->stage);
	int src = plan_node(sweep->plan, entry->src), work = work_of(stage, entry);

	if (work < 0 || src < 0 || src != rank->node || entry->src_rank != rank->rank) {
		sweep->unplanned++;
		return;
	}
	sweep_add_transfer(sweep, &(struct sweep_transfer){
					  .stage = entry->stage,
					  .op = entry->op,
					  .sub = entry->sub,
					  .src_local = rank->local,
					  .round = entry->round,
					  .work = work,
					  .src = src,
					  .dst = plan_node(sweep->plan, entry->dst),
					  .dst_rank = entry->dst_rank,
					  .count = entry->count,
					  .errors = entry->errors,
					  .times = 1,
					  .p25 = entry->ns.p25,
					  .p50 = entry->ns.p50,
					  .p75 = entry->ns.p75,
					  .p99 = entry->ns.p99,
				  });
}

static enum sweep_stuck how_stuck(const struct ledger_entry *entry)
{
	static const enum sweep_stuck ended[PLAN_ENDERS] = {
		[PLAN_BY_SOMEBODY] = STUCK_ENDED,
		[PLAN_BY_LIMIT] = STUCK_LIMIT,
		[PLAN_BY_INTERRUPT] = STUCK_INTERRUPTED,
	};

	if (entry->late)
		return STUCK_STOPPED;
	return entry->by_signal ? ended[entry->ender] : STUCK_TOO_LONG;
}

static void note_stuck(struct sweep *sweep, struct sweep_rank *rank,
		       const struct ledger_entry *entry)
{
	char text[512];

	rank->stuck = how_stuck(entry);
	rank->waits_from = plan_node(sweep->plan, entry->src);
	rank->waits_to = plan_node(sweep->plan, entry->dst);
	if (!entry->src)
		snprintf(text, sizeof(text), "the beginning of round %u of stage %s", entry->round,
			 plan_stage_names[entry->stage]);
	else
		snprintf(text, sizeof(text), "%s of %lu B from %s to %s in round %u of stage %s",
			 plan_op_names[entry->op], (unsigned long)entry->msg_size, entry->src,
			 entry->dst ? entry->dst : "all", entry->round,
			 plan_stage_names[entry->stage]);
	rank->waits = sweep_keep(sweep, text);
}

void sweep_entry(struct sweep *sweep, const struct ledger_entry *entry)
{
	struct sweep_rank *rank;

	if (!sweep->plan)
		return;
	if (entry->kind == LEDGER_HEAD) {
		add_rank(sweep, entry);
		return;
	}
	if (!sweep->current)
		return;
	rank = &sweep->ranks.data[sweep->current - 1];
	if (entry->kind == LEDGER_END) {
		rank->ended = true;
		rank->stuck = STUCK_NOT;
		return;
	}
	rank->stage = entry->stage;
	rank->round = entry->round;
	rank->stuck = STUCK_NOT;
	if (entry->kind == LEDGER_STUCK)
		note_stuck(sweep, rank, entry);
	if (entry->kind != LEDGER_TRANSFER)
		return;
	rank->transfers++;
	rank->errors += entry->errors;
	add_transfer(sweep, rank, entry);
}
