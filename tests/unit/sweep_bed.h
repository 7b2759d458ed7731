/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sweep that never ran, for tests of rules: its plan, ledgers as its ranks would write them, and
 * facts as captures would show them. Tests change what they are about.
 */
#ifndef UCXBPF_SWEEP_BED_H
#define UCXBPF_SWEEP_BED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "findings.h"
#include "site/judge/evidence/evidence.h"
#include "site/judge/judge.h"
#include "site/plan/ledger.h"
#include "site/plan/make.h"

#define SWEEP_MAX_RANKS 64

struct sweep_bed {
	struct policy *policy;
	struct plan *plan;
	struct judge *judge;
	struct fact_sink sink;
	struct fact_totals totals;
	int ranks;
	uint64_t ops;
	/* asked of each line, and of each traced message; NULL: all as planned */
	bool (*leave_out)(struct ledger_entry *entry);
	uint64_t (*time_of)(const struct plan *plan, const struct plan_stage *stage, uint32_t round,
			    const struct plan_step *step);
	bool (*untraced)(int src, int dst, uint64_t size, uint32_t i);
	void (*also)(struct sweep_bed *bed); /* more facts; NULL: none */
	bool no_ledger[SWEEP_MAX_RANKS], no_capture[SWEEP_MAX_RANKS];
};

static inline void sweep_begin(struct sweep_bed *bed, const char *policy,
			       const struct plan_options *options)
{
	struct policy_errors errors = { 0 };
	char why[PLAN_WHY] = "";

	*bed = (struct sweep_bed){ 0 };
	if (policy_parse(policy, strlen(policy), &bed->policy, &errors))
		fail_msg("line %d: %s", errors.list.data[0].line, errors.list.data[0].text);
	if (plan_make(bed->policy, options, &bed->plan, why))
		fail_msg("%s", why);
	bed->judge = judge_new(bed->policy);
	judge_plan(bed->judge, bed->plan);
	bed->sink = judge_sink(bed->judge);
	bed->ranks = bed->plan->nodes.len * bed->plan->ranks;
	assert_in_range(bed->ranks, 1, SWEEP_MAX_RANKS);
	bed->totals.stored = bed->totals.captures = 1;
}

static inline void sweep_end(struct sweep_bed *bed)
{
	judge_free(bed->judge);
	plan_free(bed->plan);
	policy_free(bed->policy);
}

static inline const char *sweep_node(const struct sweep_bed *bed, int rank)
{
	return bed->plan->nodes.data[rank / bed->plan->ranks].name;
}

/* ---- ledgers ---- */

static inline void sweep_line(struct sweep_bed *bed, struct ledger_entry *entry)
{
	if (!bed->leave_out || !bed->leave_out(entry))
		judge_ledger(bed->judge, entry);
}

static inline void sweep_transfer(struct sweep_bed *bed, int rank, const struct plan_stage *stage,
				  uint32_t round, const struct plan_step *step)
{
	const struct plan *plan = bed->plan;
	uint64_t ns = bed->time_of ? bed->time_of(plan, stage, round, step) : 1000;
	struct ledger_entry entry = {
		.kind = LEDGER_TRANSFER,
		.rank = rank,
		.stage = stage->kind,
		.round = round,
		.op = step->work->op,
		.sub = step->sub,
		.src = plan->nodes.data[step->src].name,
		.dst = step->world ? NULL : plan->nodes.data[step->dst].name,
		.src_rank = rank,
		.dst_rank = step->world ? -1 : step->dst * plan->ranks + step->dst_local,
		.src_mem = step->work->src_mem,
		.dst_mem = step->work->dst_mem,
		.msg_size = step->work->size,
		.count = step->work->count,
		.bytes = step->work->count * step->work->size,
		.ns = { step->work->count - 1, ns, ns, ns, ns, ns, ns },
	};

	sweep_line(bed, &entry);
}

/* The stage that confirms has processes of its own. */
static inline unsigned int sweep_stages(const struct sweep_bed *bed, bool again)
{
	unsigned int stages = 0;

	for (size_t i = 0; i < bed->plan->stages.len; i++)
		if (again == (bed->plan->stages.data[i].kind == STAGE_CONFIRM))
			stages |= 1u << bed->plan->stages.data[i].kind;
	return stages;
}

static inline void sweep_ledger(struct sweep_bed *bed, int rank, bool again)
{
	const struct plan *plan = bed->plan;
	plan_steps_t steps = { 0 };
	struct ledger_entry entry = {
		.kind = LEDGER_HEAD,
		.rank = rank,
		.plan = again || !*plan->base ? plan->id : plan->base,
		.node = sweep_node(bed, rank),
		.host = sweep_node(bed, rank),
		.mpi = "MPI",
		.size = bed->ranks,
		.local = rank % plan->ranks,
		.pid = 100 + rank,
		.stages = sweep_stages(bed, again),
	};

	judge_ledger(bed->judge, &entry);
	for (size_t s = 0; s < plan->stages.len; s++)
		for (uint32_t round = 0; round < plan->stages.data[s].rounds; round++) {
			if (again != (plan->stages.data[s].kind == STAGE_CONFIRM))
				continue;
			entry = (struct ledger_entry){ .kind = LEDGER_BEGIN,
						       .rank = rank,
						       .stage = plan->stages.data[s].kind,
						       .round = round };
			sweep_line(bed, &entry);
			plan_steps(plan, &plan->stages.data[s], round, rank / plan->ranks,
				   rank % plan->ranks, &steps);
			for (size_t i = 0; i < steps.len; i++)
				if (steps.data[i].sends)
					sweep_transfer(bed, rank, &plan->stages.data[s], round,
						       &steps.data[i]);
		}
	entry = (struct ledger_entry){ .kind = LEDGER_END, .rank = rank };
	sweep_line(bed, &entry);
	vec_release(&steps);
}

/* Four nodes of two ranks each: 2 k and 2 k + 1 are on node k; small messages between all. */
static inline void sweep_begin_four(struct sweep_bed *bed)
{
	sweep_begin(bed, SPEC "classes: { c: { nodes: 'n[0-3]' } }\n",
		    &(struct plan_options){ .variant = "all-pairs",
					    .max_size = 1024,
					    .max_count = 4,
					    .collective = true });
	assert_int_equal(bed->ranks, 8);
}

/* ---- captures ---- */

static inline void sweep_process(struct sweep_bed *bed, int rank)
{
	const struct fact_process process = {
		.index = rank,
		.host = rank / bed->plan->ranks,
		.host_id = sweep_node(bed, rank),
		.host_name = sweep_node(bed, rank),
		.pid = 100 + rank,
		.tgid = 100 + rank,
		.exe = "/usr/bin/ucxbpf-traffic-openmpi",
		.mpi = "MPI",
		.rank = rank,
		.size = bed->ranks,
	};

	fact_put(&bed->sink, FACT_PROCESS, &process);
}

static inline void sweep_message(struct sweep_bed *bed, int src, int dst,
				 const struct plan_work *work)
{
	const char *function = work->op == PLAN_PERSISTENT ? "MPI_Start" : "MPI_Isend";

	for (uint32_t i = 0; i < work->count; i++) {
		struct fact_op op = {
			.id = ++bed->ops,
			.process = src,
			.peer = dst,
			.op = "tag_send",
			.function = function,
			.bytes = work->size,
			.memory = work->src_mem == PLAN_CUDA ? "gpu0" : "host",
			.sends = true,
		};
		struct fact_message message = {
			.src = src, .dst = dst, .function = function, .bytes = work->size
		};

		if (bed->untraced && bed->untraced(src, dst, work->size, i))
			continue;
		if (!bed->no_capture[src])
			fact_put(&bed->sink, FACT_OP, &op);
		if (!bed->no_capture[src] && !bed->no_capture[dst])
			fact_put(&bed->sink, FACT_MESSAGE, &message);
	}
}

static inline void sweep_world(struct sweep_bed *bed, int rank, const struct plan_work *work)
{
	const struct fact_call call = {
		.process = rank,
		.function = work->op == PLAN_ALLTOALL ? "MPI_Alltoall" : "MPI_Allreduce",
	};

	for (uint32_t i = 0; !bed->no_capture[rank] && i < work->count; i++)
		fact_put(&bed->sink, FACT_CALL, &call);
}

static inline void sweep_capture(struct sweep_bed *bed, int rank)
{
	const struct plan *plan = bed->plan;
	plan_steps_t steps = { 0 };

	for (size_t s = 0; s < plan->stages.len; s++)
		for (uint32_t round = 0; round < plan->stages.data[s].rounds; round++) {
			plan_steps(plan, &plan->stages.data[s], round, rank / plan->ranks,
				   rank % plan->ranks, &steps);
			for (size_t i = 0; i < steps.len; i++) {
				const struct plan_step *step = &steps.data[i];

				if (step->world)
					sweep_world(bed, rank, step->work);
				else if (step->sends)
					sweep_message(bed, rank,
						      step->dst * plan->ranks + step->dst_local,
						      step->work);
			}
		}
	vec_release(&steps);
}

/* All that was planned was done, but for what the test has said. */
static inline void sweep_run(struct sweep_bed *bed, bool traced)
{
	for (int rank = 0; traced && rank < bed->ranks; rank++)
		if (!bed->no_capture[rank])
			sweep_process(bed, rank);
	for (int rank = 0; rank < bed->ranks; rank++) {
		if (!bed->no_ledger[rank])
			sweep_ledger(bed, rank, false);
		if (!bed->no_ledger[rank] && *bed->plan->base)
			sweep_ledger(bed, rank, true);
		if (traced)
			sweep_capture(bed, rank);
	}
	if (bed->also)
		bed->also(bed);
	judge_finish(bed->judge, &bed->totals, 20000);
}

/* What was gathered goes through a file, as the parts of a site do. */
static inline void sweep_by_evidence(struct sweep_bed *bed)
{
	int file = memfd_create("evidence", MFD_CLOEXEC);
	struct evidence_error error = { 0 };

	if (judge_evidence_write(bed->judge, &bed->totals, file, &error))
		fail_msg("%s", error.text);
	judge_free(bed->judge);
	bed->judge = judge_new(bed->policy);
	judge_plan(bed->judge, bed->plan);
	if (judge_evidence_read(bed->judge, file, &error))
		fail_msg("%s", error.text);
	close(file);
}

/* ---- findings ---- */

static inline const struct finding *sweep_finding(const struct sweep_bed *bed, const char *rule,
						  const char *subject)
{
	return finding_of(bed->judge, rule, subject);
}

/* text: what it says has that in it; NULL: anything. */
static inline void sweep_expect(const struct sweep_bed *bed, const char *rule, const char *subject,
				enum verdict verdict, const char *text)
{
	const struct finding *finding = sweep_finding(bed, rule, subject);
	const char *said = finding->why ? finding->why : finding->seen ? finding->seen : "-";

	rule_expected(rule, verdict);
	if (finding->verdict != verdict || (text && !strstr(said, text)))
		fail_msg("%s of %s: %s (%s), not %s (%s)", rule, finding->subject.text,
			 verdict_words[finding->verdict].name, said, verdict_words[verdict].name,
			 text ? text : "");
}

#endif
