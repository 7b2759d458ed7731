// SPDX-License-Identifier: BSD-3-Clause
#include "judge/sweep.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#define AGAIN(again) ((uint64_t)(again) << 32)

void sweep_plan(struct sweep *sweep, const struct plan *plan)
{
	sweep->plan = plan;
}

void sweep_release(struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->made.len; i++)
		free(sweep->made.data[i]);
	vec_release(&sweep->made);
	vec_release(&sweep->ranks);
	vec_release(&sweep->transfers);
	map_release(&sweep->by_rank);
	map_release(&sweep->by_place);
	map_release(&sweep->index);
	map_release(&sweep->captured);
}

static const char *keep(struct sweep *sweep, const char *text)
{
	vec_push(&sweep->made, strdup(text));
	return sweep->made.data[sweep->made.len - 1];
}

static uint64_t place(bool again, int node, int local)
{
	return AGAIN(again) | (uint32_t)(node * PLAN_MAX_RANKS + local);
}

/* A plan that was extended by the stage that confirms had another id before. */
static bool of_plan(const struct sweep *sweep, const char *id, bool *again)
{
	const struct plan *plan = sweep->plan;

	*again = *plan->base && !strcmp(id, plan->id);
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
		.stages = entry->stages,
		.waits_from = -1,
		.waits_to = -1,
		.process = -1,
	};

	sweep->current = 0;
	if (!of_plan(sweep, entry->plan, &rank.again)) {
		sweep->foreign++;
		return;
	}
	rank.host = keep(sweep, entry->host);
	rank.node_name = keep(sweep, entry->node);
	vec_push(&sweep->ranks, rank);
	sweep->current = sweep->ranks.len;
	*map_insert(&sweep->by_rank, AGAIN(rank.again) | (uint32_t)rank.rank, 0, NULL) =
		sweep->current;
	if (rank.node >= 0 && rank.local < PLAN_MAX_RANKS)
		*map_insert(&sweep->by_place, place(rank.again, rank.node, rank.local), 0, NULL) =
			sweep->current;
}

struct sweep_rank *sweep_rank_at(const struct sweep *sweep, bool again, int node, int local)
{
	const uint64_t *at = map_find(&sweep->by_place, place(again, node, local), 0);

	return at ? &sweep->ranks.data[*at - 1] : NULL;
}

struct sweep_rank *sweep_rank_of(const struct sweep *sweep, bool again, int rank)
{
	const uint64_t *at = map_find(&sweep->by_rank, AGAIN(again) | (uint32_t)rank, 0);

	return at ? &sweep->ranks.data[*at - 1] : NULL;
}

/* ---- transfers ---- */

static uint64_t what(unsigned int stage, uint32_t round, uint32_t sub, size_t work)
{
	return (uint64_t)stage << 56 | (uint64_t)(round & 0xffffff) << 32 | (sub & 0xffff) << 16 |
	       (work & 0xffff);
}

static uint64_t who(int node, int local)
{
	return (uint64_t)node << 8 | local;
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
	bool fresh;
	uint64_t *at;

	if (work < 0 || src < 0 || src != rank->node || entry->src_rank != rank->rank) {
		sweep->unplanned++;
		return;
	}
	at = map_insert(&sweep->index, what(entry->stage, entry->round, entry->sub, work),
			who(src, rank->local), &fresh);
	if (!fresh) {
		sweep->transfers.data[*at - 1].times++;
		return;
	}
	vec_push(&sweep->transfers, ((struct sweep_transfer){
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
				    }));
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

bool sweep_again(const struct sweep *sweep, const struct plan_stage *stage)
{
	return *sweep->plan->base && stage->kind == STAGE_CONFIRM;
}

/* ---- */

static void note_stuck(struct sweep *sweep, struct sweep_rank *rank,
		       const struct ledger_entry *entry)
{
	char text[512];

	rank->stuck = !entry->late;
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
	rank->waits = keep(sweep, text);
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
		return;
	}
	rank->stage = entry->stage;
	rank->round = entry->round;
	if (entry->kind == LEDGER_STUCK)
		note_stuck(sweep, rank, entry);
	if (entry->kind != LEDGER_TRANSFER)
		return;
	rank->transfers++;
	rank->errors += entry->errors;
	add_transfer(sweep, rank, entry);
}

static uint64_t hash(const char *text)
{
	return XXH3_64bits(text, strlen(text));
}

bool sweep_captured(const struct sweep *sweep, const char *host)
{
	return map_find(&sweep->captured, hash(host), 0);
}

void sweep_finish(struct sweep *sweep, struct exhibits *exhibits)
{
	struct map by_pid = { 0 };

	sweep->traced = &exhibits->traced;
	for (size_t i = 0; i < exhibits->members.len; i++) {
		const struct member *member = &exhibits->members.data[i];

		if (!member->fact.host_name)
			continue;
		map_insert(&sweep->captured, hash(member->fact.host_name), 0, NULL);
		*map_insert(&by_pid, hash(member->fact.host_name), member->fact.pid, NULL) =
			1 + traced_at(&exhibits->traced, member->id);
	}
	for (size_t i = 0; i < sweep->ranks.len; i++) {
		struct sweep_rank *rank = &sweep->ranks.data[i];
		const uint64_t *at = map_find(&by_pid, hash(rank->host), rank->pid);

		rank->process = at ? (int)*at - 1 : -1;
	}
	map_release(&by_pid);
}
