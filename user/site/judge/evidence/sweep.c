// SPDX-License-Identifier: BSD-3-Clause
/* A sweep's plan, its ledgers, and what captures show of its messages, as lines of evidence. */
#include "site/judge/evidence/kinds.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

static const char *node_name(const struct sweep *sweep, int node)
{
	return node < 0 ? NULL : sweep->plan->nodes.data[node].name;
}

static int node_at(struct judge *judge, struct line_ref field)
{
	return plan_node(judge->sweep.plan, field_kept(&judge->aggregates, field));
}

/* Parses the remaining fields as numbers; false if one is malformed. */
static bool numbers(const struct line_ref *fields, size_t count, uint64_t *to)
{
	for (size_t i = 0; i < count; i++)
		if (!field_number(fields[i], &to[i]))
			return false;
	return true;
}

/* ---- the plan ---- */

void write_plans(const struct judge *judge, struct evidence_lines *lines)
{
	char *text;

	if (!judge->sweep.plan)
		return;
	text = plan_json(judge->sweep.plan);
	line_begin(lines, "plan");
	line_word(lines, judge->sweep.plan->id);
	line_word(lines, text);
	free(text);
}

/* It keeps the id that ledgers have: of its text as it was. */
const char *read_plan(struct judge *judge, const struct line_ref *fields)
{
	char why[PLAN_WHY], *room = xmalloc(fields[1].size + 1);
	const char *text = field_word(fields[1], room);
	struct plan *plan;
	int err = text ? plan_parse(text, strlen(text), &plan, why) : -1;

	free(room);
	if (err)
		return "none that this version knows";
	snprintf(plan->id, sizeof(plan->id), "%.*s", (int)fields[0].size, fields[0].text);
	return sweep_take_plan(&judge->sweep, plan)
		       ? NULL
		       : "a second plan: sweeps of different plans cannot be judged together";
}

/* ---- ranks ---- */

void write_ranks(const struct judge *judge, struct evidence_lines *lines)
{
	const struct sweep *sweep = &judge->sweep;

	for (size_t i = 0; i < sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &sweep->ranks.data[i];

		line_begin(lines, "rank");
		line_number(lines, rank->job);
		line_number(lines, rank->rank);
		line_word(lines, rank->node_name);
		line_word(lines, rank->host);
		line_word(lines, rank->waits);
		line_word(lines, node_name(sweep, rank->waits_from));
		line_word(lines, node_name(sweep, rank->waits_to));
		line_number(lines, rank->local);
		line_number(lines, rank->size);
		line_number(lines, rank->pid);
		line_number(lines, rank->stages);
		line_number(lines, rank->ended);
		line_number(lines, rank->stage);
		line_number(lines, rank->round);
		line_number(lines, rank->stuck);
		line_number(lines, rank->transfers);
		line_number(lines, rank->errors);
	}
}

const char *read_rank(struct judge *judge, const struct line_ref *fields)
{
	enum { NODE = 2, HOST, WAITS, FROM, TO, NUMBERS };
	enum { LOCAL, SIZE, PID, STAGES_ASKED, ENDED, STAGE, ROUND, STUCK, TRANSFERS, ERRORS, ALL };
	uint64_t id[2], number[ALL];
	struct aggregates *aggregates = &judge->aggregates;

	if (!judge->sweep.plan)
		return "without a plan";
	if (!numbers(fields, 2, id) || !numbers(fields + NUMBERS, ALL, number) ||
	    number[STAGE] >= STAGES || number[STUCK] > STUCK_STOPPED)
		return FIELD_NO_NUMBER;
	if (id[0] > plan_parts(judge->sweep.plan))
		return "of a part that the plan does not have";
	sweep_add_rank(&judge->sweep, &(struct sweep_rank){
					      .job = id[0],
					      .rank = id[1],
					      .node = node_at(judge, fields[NODE]),
					      .node_name = field_kept(aggregates, fields[NODE]),
					      .host = field_kept(aggregates, fields[HOST]),
					      .waits = field_kept(aggregates, fields[WAITS]),
					      .waits_from = node_at(judge, fields[FROM]),
					      .waits_to = node_at(judge, fields[TO]),
					      .local = number[LOCAL],
					      .size = number[SIZE],
					      .pid = number[PID],
					      .stages = number[STAGES_ASKED],
					      .ended = number[ENDED],
					      .stage = number[STAGE],
					      .round = number[ROUND],
					      .stuck = number[STUCK],
					      .transfers = number[TRANSFERS],
					      .errors = number[ERRORS],
					      .process = -1,
				      });
	return NULL;
}

/* ---- transfers ---- */

void write_transfers(const struct judge *judge, struct evidence_lines *lines)
{
	const struct sweep *sweep = &judge->sweep;

	for (size_t i = 0; i < sweep->transfers.len; i++) {
		const struct sweep_transfer *transfer = &sweep->transfers.data[i];

		line_begin(lines, "transfer");
		line_word(lines, node_name(sweep, transfer->src));
		line_number(lines, transfer->src_local);
		line_word(lines, plan_stage_names[transfer->stage]);
		line_number(lines, transfer->round);
		line_number(lines, transfer->sub);
		line_number(lines, transfer->work);
		line_word(lines, node_name(sweep, transfer->dst));
		line_index(lines, transfer->dst_rank);
		line_number(lines, transfer->count);
		line_number(lines, transfer->errors);
		line_number(lines, transfer->times);
		line_number(lines, transfer->p25);
		line_number(lines, transfer->p50);
		line_number(lines, transfer->p75);
		line_number(lines, transfer->p99);
	}
}

const char *read_transfer(struct judge *judge, const struct line_ref *fields)
{
	enum { SRC, LOCAL, STAGE, ROUND, SUB, WORK, DST, DST_RANK, COUNT };
	enum { MESSAGES, ERRORS, TIMES, P25, P50, P75, P99, ALL };
	const char *name = field_kept(&judge->aggregates, fields[STAGE]);
	int kind = plan_name(plan_stage_names, STAGES, name), src, dst_rank;
	const struct plan_stage *stage;
	uint64_t local, where[3], number[ALL];

	if (!judge->sweep.plan)
		return "without a plan";
	stage = kind < 0 ? NULL : plan_stage(judge->sweep.plan, kind);
	src = node_at(judge, fields[SRC]);
	if (!field_number(fields[LOCAL], &local) || !numbers(fields + ROUND, 3, where) ||
	    !field_index(fields[DST_RANK], &dst_rank) || !numbers(fields + COUNT, ALL, number))
		return FIELD_NO_NUMBER;
	if (!stage || src < 0 || where[2] >= stage->works.len)
		return "not of the plan";
	sweep_add_transfer(&judge->sweep, &(struct sweep_transfer){
						  .stage = kind,
						  .op = stage->works.data[where[2]].op,
						  .src = src,
						  .src_local = local,
						  .round = where[0],
						  .sub = where[1],
						  .work = where[2],
						  .dst = node_at(judge, fields[DST]),
						  .dst_rank = dst_rank,
						  .count = number[MESSAGES],
						  .errors = number[ERRORS],
						  .times = number[TIMES],
						  .p25 = number[P25],
						  .p50 = number[P50],
						  .p75 = number[P75],
						  .p99 = number[P99],
					  });
	return NULL;
}

/* ---- what does not belong there ---- */

#define FOREIGN "ledgers of other plans"

void write_strays(const struct judge *judge, struct evidence_lines *lines)
{
	if (!judge->sweep.foreign)
		return;
	line_begin(lines, "stray");
	line_word(lines, FOREIGN);
	line_number(lines, judge->sweep.foreign);
}

const char *read_stray(struct judge *judge, const struct line_ref *fields)
{
	uint64_t count;

	if (!field_number(fields[1], &count))
		return FIELD_NO_NUMBER;
	judge->sweep.foreign += count;
	return NULL;
}

/* ---- what captures show of its messages ---- */

static const char *id_at(const struct judge *judge, uint64_t process)
{
	return judge->aggregates.traced.processes.data[process].id;
}

static bool read_process_at(struct judge *judge, struct line_ref field, uint32_t *process)
{
	const char *id = field_kept(&judge->aggregates, field);

	if (id)
		*process = traced_at(&judge->aggregates.traced, id);
	return id != NULL;
}

void write_sent(const struct judge *judge, struct evidence_lines *lines)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&judge->aggregates.traced.sent, &pos));) {
		line_begin(lines, "sent");
		line_word(lines, id_at(judge, slot->a));
		line_number(lines, slot->b / TRACED_MEMORIES);
		line_number(lines, slot->b % TRACED_MEMORIES);
		line_number(lines, slot->value);
	}
}

const char *read_sent(struct judge *judge, const struct line_ref *fields)
{
	uint64_t size, memory, count;
	uint32_t process;

	if (!read_process_at(judge, fields[0], &process) || !field_number(fields[1], &size) ||
	    !field_number(fields[2], &memory) || memory >= TRACED_MEMORIES ||
	    !field_number(fields[3], &count))
		return FIELD_NO_NUMBER;
	*map_insert(&judge->aggregates.traced.sent, process, traced_sent_key(size, memory), NULL) =
		count;
	return NULL;
}

void write_met(const struct judge *judge, struct evidence_lines *lines)
{
	const struct map_slot *slot;

	for (size_t pos = 0; (slot = map_next(&judge->aggregates.traced.met, &pos));) {
		line_begin(lines, "met");
		line_word(lines, id_at(judge, slot->a >> 32));
		line_word(lines, id_at(judge, slot->a & UINT32_MAX));
		line_number(lines, slot->b);
		line_number(lines, slot->value);
	}
}

const char *read_met(struct judge *judge, const struct line_ref *fields)
{
	uint32_t process, peer;
	uint64_t size, count;

	if (!read_process_at(judge, fields[0], &process) ||
	    !read_process_at(judge, fields[1], &peer) || !field_number(fields[2], &size) ||
	    !field_number(fields[3], &count))
		return FIELD_NO_NUMBER;
	*map_insert(&judge->aggregates.traced.met, traced_met_key(process, peer), size, NULL) =
		count;
	return NULL;
}

void write_collectives(const struct judge *judge, struct evidence_lines *lines)
{
	const struct traced *traced = &judge->aggregates.traced;

	for (size_t i = 0; i < traced->processes.len; i++) {
		line_begin(lines, "collective");
		line_word(lines, traced->processes.data[i].id);
		for (int call = 0; call < TRACED_CALLS; call++)
			line_number(lines, traced->processes.data[i].calls[call]);
		line_number(lines, traced->processes.data[i].counted);
	}
}

const char *read_collective(struct judge *judge, const struct line_ref *fields)
{
	struct traced_process *process;
	uint64_t counted;
	uint32_t at;

	if (!read_process_at(judge, fields[0], &at))
		return FIELD_NO_NUMBER;
	process = &judge->aggregates.traced.processes.data[at];
	for (int call = 0; call < TRACED_CALLS; call++)
		if (!field_number(fields[1 + call], &process->calls[call]))
			return FIELD_NO_NUMBER;
	if (!field_number(fields[1 + TRACED_CALLS], &counted))
		return FIELD_NO_NUMBER;
	process->counted = counted;
	return NULL;
}
