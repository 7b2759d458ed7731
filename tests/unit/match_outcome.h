/* SPDX-License-Identifier: BSD-3-Clause */
/* The facts that the analysis of a made-up job gives. */
#ifndef TESTS_UNIT_MATCH_OUTCOME_H
#define TESTS_UNIT_MATCH_OUTCOME_H

#include "match_calls.h"

struct outcome {
	VEC(struct fact_process) processes;
	VEC(struct fact_call) calls;
	VEC(struct fact_op) ops;
	VEC(struct fact_transfer) transfers;
	VEC(struct fact_message) messages;
	VEC(struct fact_memory) memory;
	VEC(struct fact_clock) clocks;
	struct fact_totals totals;
	struct analysis *analysis; /* owns the strings */
};

#define OUTCOME_KEEP(list, type) vec_push(&outcome->list, *(const struct fact_##type *)fact)

static inline void outcome_fact(void *arg, enum fact_type type, const void *fact,
				const struct fact_sums *sums)
{
	struct outcome *outcome = arg;

	(void)sums;
	if (type == FACT_PROCESS)
		OUTCOME_KEEP(processes, process);
	else if (type == FACT_CALL)
		OUTCOME_KEEP(calls, call);
	else if (type == FACT_OP)
		OUTCOME_KEEP(ops, op);
	else if (type == FACT_TRANSFER)
		OUTCOME_KEEP(transfers, transfer);
	else if (type == FACT_MESSAGE)
		OUTCOME_KEEP(messages, message);
	else if (type == FACT_MEMORY)
		OUTCOME_KEEP(memory, memory);
	else if (type == FACT_CLOCK)
		OUTCOME_KEEP(clocks, clock);
}

static inline int job_next(void *ctx, const struct ub_hdr **record)
{
	struct job *job = ctx;

	if (job->read == job->records.len)
		return 0;
	*record = &job->records.data[job->read++].h;
	return 1;
}

static inline int job_rewind(void *ctx)
{
	((struct job *)ctx)->read = 0;
	return 0;
}

static inline uint64_t reason_count(const struct fact_reason *reasons, const char *reason)
{
	for (int i = 0; i < FACT_MAX_REASONS && reasons[i].reason; i++)
		if (!strcmp(reasons[i].reason, reason))
			return reasons[i].count;
	return 0;
}

static inline uint64_t reason_sum(const struct fact_reason *reasons)
{
	uint64_t sum = 0;

	for (int i = 0; i < FACT_MAX_REASONS; i++)
		sum += reasons[i].count;
	return sum;
}

/* Every send and every receive is matched, ambiguous, or unmatched for a reason that is one. */
static inline void assert_balanced(const struct fact_totals *totals)
{
	assert_int_equal(totals->sends,
			 totals->matched + totals->ambiguous + reason_sum(totals->unmatched_sends));
	assert_int_equal(totals->receives, totals->matched + totals->ambiguous +
						   reason_sum(totals->unmatched_receives));
	assert_int_equal(reason_count(totals->unmatched_sends, "lost track"), 0);
	assert_int_equal(reason_count(totals->unmatched_receives, "lost track"), 0);
	assert_int_equal(reason_count(totals->notes, "sends or receives counted twice"), 0);
	assert_int_equal(totals->data_bytes, totals->to_op_bytes + totals->unexplained_bytes);
}

static inline void analyse(struct outcome *outcome, struct job **jobs, int count)
{
	const struct fact_sink sink = { outcome, outcome_fact };

	memset(outcome, 0, sizeof(*outcome));
	outcome->analysis = analysis_new();
	for (int i = 0; i < count; i++) {
		struct record_source source = { .ctx = jobs[i],
						.next = job_next,
						.rewind = job_rewind,
						.sides = jobs[i]->sides };

		jobs[i]->read = 0;
		source.stats.produced[UB_OP] =
			jobs[i]->records.len + jobs[i]->lost + jobs[i]->damaged;
		source.stats.dropped[UB_OP] = jobs[i]->lost;
		source.damaged = 100 * jobs[i]->damaged;
		source.stats.produced[UB_MEM] = jobs[i]->lost_memory;
		source.stats.dropped[UB_MEM] = jobs[i]->lost_memory;
		analysis_add_source(outcome->analysis, &source);
	}
	assert_int_equal(analysis_run(outcome->analysis, &sink, &outcome->totals), 0);
	assert_balanced(&outcome->totals);
}

static inline void outcome_release(struct outcome *outcome)
{
	vec_release(&outcome->processes);
	vec_release(&outcome->calls);
	vec_release(&outcome->ops);
	vec_release(&outcome->transfers);
	vec_release(&outcome->messages);
	vec_release(&outcome->memory);
	vec_release(&outcome->clocks);
	analysis_free(outcome->analysis);
}

#endif
