// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/aggregates/sweep.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/lists.h"
#include "base/signals.h"

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
	free(sweep->unusable);
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

/* A text that lives as long as the sweep. */
static const char *sweep_keep(struct sweep *sweep, const char *text)
{
	vec_push(&sweep->made, xstrdup(text));
	return sweep->made.data[sweep->made.len - 1];
}

static uint64_t place(uint32_t job, int node, int local)
{
	return (uint64_t)job << 32 | (uint32_t)(node * PLAN_MAX_RANKS + local);
}

/* The rank at that position is found by its place from now on. */
static void sweep_place_rank(struct sweep *sweep, size_t at)
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

static bool is_usable(const struct sweep *sweep, int node)
{
	return node < 0 || !sweep->unusable || !sweep->unusable[node];
}

bool sweep_times_usable(const struct sweep *sweep, const struct sweep_transfer *transfer)
{
	return is_usable(sweep, transfer->src) && is_usable(sweep, transfer->dst);
}

uint32_t sweep_job_of(const struct sweep *sweep, const struct plan_stage *stage, uint32_t round,
		      int node)
{
	const struct plan *plan = sweep->plan;

	if (*plan->base && stage->kind == STAGE_CONFIRM)
		return plan_parts(plan);
	return plan_part(plan, stage, round, node);
}

/* ---- a rank's ledger, line by line ---- */

/* A plan that was extended by the stage that confirms had another id before. */
static bool of_plan(const struct sweep *sweep, const char *id, uint32_t *job)
{
	const struct plan *plan = sweep->plan;

	if (*plan->base && !strcmp(id, plan->id))
		*job = plan_parts(plan);
	return !strcmp(id, plan->id) || (*plan->base && !strcmp(id, plan->base));
}

static void ledger_add_rank(struct sweep *sweep, const struct ledger_entry *entry)
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

static void ledger_add_transfer(struct sweep *sweep, const struct sweep_rank *rank,
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
		ledger_add_rank(sweep, entry);
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
	ledger_add_transfer(sweep, rank, entry);
}

/* ---- which rank stopped, and which ones waited for it ---- */

bool sweep_silent(const struct sweep_rank *rank)
{
	return !rank->ended && !rank->stuck;
}

/* Whether it wrote that it waits. */
static bool sweep_waits(const struct sweep_rank *rank)
{
	return rank->stuck && rank->stuck != STUCK_STOPPED;
}

static const uint32_t crashes[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };

/* Half of the time that Open MPI 4.1 waits before it ends a job that has lost a rank. */
#define BEFORE_OTHERS_NS 500000000ull

bool sweep_died(const struct sweep_rank *rank)
{
	if (rank->exit_signal && rank->outlived_ns >= BEFORE_OTHERS_NS)
		return sweep_silent(rank);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
		if (rank->exit_signal == crashes[i])
			return sweep_silent(rank);
	return false;
}

/* Every rank had time to write its end: its own, or the grace of the launcher that ended it. */
static enum sweep_fate by_ledgers(const struct sweep_job *job, const struct sweep_rank *rank)
{
	bool silent = sweep_silent(rank);

	if (rank->stuck == STUCK_STOPPED)
		return FATE_HANGS;
	/* a launcher that lets the stopped rank go on may leave the others no time */
	if (job->stopped && !job->too_long)
		return silent ? FATE_TAKEN : FATE_WAITED;
	if (job->stopped || job->silent)
		return silent ? FATE_HANGS : FATE_WAITED;
	/* all of them ran, none waited too long: the job was ended from outside */
	if (!job->too_long)
		return FATE_UNKNOWN;
	return rank->waits_to >= 0 ? FATE_STUCK : FATE_WAITED;
}

enum sweep_fate sweep_fate(const struct sweep *sweep, const struct sweep_rank *rank)
{
	const struct sweep_job *job = &sweep->jobs.data[rank->job];

	if (rank->ended)
		return FATE_ENDED;
	if (sweep_died(rank))
		return FATE_HANGS;
	if (job->died)
		return sweep_waits(rank) ? FATE_WAITED : FATE_TAKEN;
	/* nobody waited: the whole job was stopped, or ended */
	return job->waiting ? by_ledgers(job, rank) : FATE_UNKNOWN;
}

const struct sweep_rank *sweep_culprit(const struct sweep *sweep, uint32_t job)
{
	for (size_t i = 0; i < sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &sweep->ranks.data[i];
		enum sweep_fate fate = sweep_fate(sweep, rank);

		if (rank->job == job && (fate == FATE_HANGS || fate == FATE_STUCK))
			return rank;
	}
	return NULL;
}

const struct sweep_rank *sweep_rank_of_member(const struct sweep *sweep, int member)
{
	const uint64_t *at = member < 0 ? NULL : map_find(&sweep->by_member, member, 0);

	return at ? &sweep->ranks.data[*at - 1] : NULL;
}

/* ---- all is in: ranks in order, the process of each, and how their jobs came to an end ---- */

bool sweep_captured(const struct sweep *sweep, const char *host)
{
	return map_find(&sweep->captured, map_text(host), 0);
}

static int by_rank(const void *left, const void *right)
{
	const struct sweep_rank *a = left, *b = right;
	int order = (a->job > b->job) - (a->job < b->job);

	return order ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

/* Ledgers come in any order, and from evidence in another one. */
static void order_ranks(struct sweep *sweep)
{
	if (sweep->ranks.len)
		qsort(sweep->ranks.data, sweep->ranks.len, sizeof(*sweep->ranks.data), by_rank);
	for (size_t i = 0; i < sweep->ranks.len; i++)
		sweep_place_rank(sweep, i);
}

static void find_members(struct sweep *sweep, const struct aggregates *aggregates,
			 struct map *by_pid)
{
	for (size_t i = 0; i < aggregates->members.len; i++) {
		const struct member *member = &aggregates->members.data[i];

		if (!member->fact.host_name)
			continue;
		map_insert(&sweep->captured, map_text(member->fact.host_name), 0, NULL);
		*map_insert(by_pid, map_text(member->fact.host_name), member->fact.pid, NULL) =
			1 + i;
	}
}

static void count_stopped(struct sweep *sweep, const struct sweep_rank *rank)
{
	struct sweep_job *job;

	while (sweep->jobs.len <= rank->job)
		vec_add(&sweep->jobs);
	job = &sweep->jobs.data[rank->job];
	job->waiting += sweep_waits(rank);
	job->too_long += rank->stuck == STUCK_TOO_LONG;
	job->stopped += rank->stuck == STUCK_STOPPED;
	job->silent += sweep_silent(rank);
	job->died += sweep_died(rank);
}

static const char *gone(struct sweep *sweep, const struct sweep_rank *rank)
{
	char how[40], text[64];

	if (rank->stuck == STUCK_STOPPED)
		return "hangs: it was stopped";
	if (!sweep_died(rank))
		return "hangs or has died";
	signal_text(how, sizeof(how), rank->exit_signal);
	snprintf(text, sizeof(text), "has died of %s", how);
	return sweep_keep(sweep, text);
}

/* In pid namespaces of their own, processes of one host may have the same pid. */
static void take_process(struct sweep_rank *rank, struct traced *traced,
			 const struct member *member)
{
	rank->process = traced_at(traced, member->id);
	if (member->fact.rank >= 0 && member->fact.rank != rank->rank)
		return;
	rank->exit_signal = member->exit_signal;
	rank->outlived_ns = member->outlived_ns;
}

void sweep_finish(struct sweep *sweep, struct aggregates *aggregates)
{
	struct map by_pid = { 0 };

	sweep->traced = &aggregates->traced;
	order_ranks(sweep);
	find_members(sweep, aggregates, &by_pid);
	for (size_t i = 0; i < sweep->ranks.len; i++) {
		struct sweep_rank *rank = &sweep->ranks.data[i];
		const uint64_t *at = map_find(&by_pid, map_text(rank->host), rank->pid);

		rank->process = -1;
		if (at) {
			take_process(rank, &aggregates->traced, &aggregates->members.data[*at - 1]);
			*map_insert(&sweep->by_member, *at - 1, 0, NULL) = 1 + i;
		}
		rank->gone = gone(sweep, rank);
		count_stopped(sweep, rank);
	}
	map_release(&by_pid);
}

/* ---- nodes that are one machine ---- */

/* A node of the plan that has an inventory. */
struct machine_resident {
	const char *machine, *name;
	int node;
	int64_t cores; /* INVENTORY_UNKNOWN */
};

typedef VEC(struct machine_resident) residents;

static int by_machine(const void *left, const void *right)
{
	const struct machine_resident *a = left, *b = right;
	int order = strcmp(a->machine, b->machine);

	return order ? order : (a->node > b->node) - (a->node < b->node);
}

static void find_residents(const struct sweep *sweep, const struct node_inventories *inventories,
			   residents *list)
{
	for (size_t i = 0; i < inventories->list.len; i++) {
		const struct inventory *last = inventories->list.data[i].last;
		const char *kernel = last->kernel_boot_id;
		struct machine_resident resident = {
			.machine = kernel ? kernel : last->boot_id,
			.name = inventories->list.data[i].name,
			.node = plan_node(sweep->plan, inventories->list.data[i].name),
			.cores = last->cpus.count,
		};

		if (resident.node >= 0 && *resident.machine)
			vec_push(list, resident);
	}
	if (list->len)
		qsort(list->data, list->len, sizeof(*list->data), by_machine);
}

/* Names of the nodes of one machine, each once; the caller's. */
static char *names_of(const struct machine_resident *residents, size_t count, size_t *nodes)
{
	VEC(const char *) names = { 0 };
	char *folded;

	for (size_t i = 0; i < count; i++)
		if (!i || residents[i].node != residents[i - 1].node)
			vec_push(&names, residents[i].name);
	folded = fold_names(names.data, names.len);
	*nodes = names.len;
	vec_release(&names);
	return folded;
}

/* Why their times are unusable, the caller's; NULL: they are usable. */
static char *why_unusable(const struct sweep *sweep, const struct machine_resident *residents,
			  size_t count)
{
	char *names, *why = NULL;
	size_t nodes;
	int64_t ranks;

	names = names_of(residents, count, &nodes);
	ranks = (int64_t)nodes * sweep->plan->ranks;
	if (nodes > 1)
		why = xasprintf("%s are one machine: their times show nothing about a network",
				names);
	if (nodes == 1 && residents->cores > 0 && ranks > residents->cores)
		why = xasprintf(
			"%s has %ld ranks on %ld cores: its times show nothing about a network",
			names, (long)ranks, (long)residents->cores);
	free(names);
	return why;
}

void machines_find(struct sweep *sweep, const struct node_inventories *inventories)
{
	residents list = { 0 };
	size_t to;

	if (!sweep->plan)
		return;
	sweep->unusable = xcalloc(sweep->plan->nodes.len + 1, sizeof(*sweep->unusable));
	find_residents(sweep, inventories, &list);
	for (size_t from = 0; from < list.len; from = to) {
		char *why;

		for (to = from;
		     to < list.len && !strcmp(list.data[to].machine, list.data[from].machine);)
			to++;
		why = why_unusable(sweep, &list.data[from], to - from);
		if (!why)
			continue;
		vec_push(&sweep->made, why);
		for (size_t i = from; i < to; i++)
			sweep->unusable[list.data[i].node] = why;
	}
	vec_release(&list);
}
