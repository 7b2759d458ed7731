/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Made-up jobs, analysed: analyse() reads captures of job.h and keeps all facts, in the order in
 * which they come, until outcome_release(). It asserts that every send, receive and byte is
 * accounted for. struct pair is the usual job: two ranks of one host, "start" or "attach".
 */
#ifndef TESTS_UNIT_OUTCOME_H
#define TESTS_UNIT_OUTCOME_H

#include "job.h"
#include "seed.h"

struct outcome_sum {
	struct fact_call call;
	struct fact_sums sums;
};

struct outcome {
	VEC(struct fact_process) processes;
	VEC(struct fact_call) calls;
	VEC(struct outcome_sum) loops; /* calls told of at once */
	VEC(struct fact_op) ops;
	VEC(struct fact_transfer) transfers;
	VEC(struct fact_message) messages;
	VEC(struct fact_wait) waits;
	VEC(struct fact_collective) collectives; /* without their members */
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

	if (type == FACT_PROCESS)
		OUTCOME_KEEP(processes, process);
	else if (type == FACT_CALL)
		OUTCOME_KEEP(calls, call);
	else if (type == FACT_CALLS)
		vec_push(&outcome->loops,
			 ((struct outcome_sum){ *(const struct fact_call *)fact, *sums }));
	else if (type == FACT_OP)
		OUTCOME_KEEP(ops, op);
	else if (type == FACT_TRANSFER)
		OUTCOME_KEEP(transfers, transfer);
	else if (type == FACT_MESSAGE)
		OUTCOME_KEEP(messages, message);
	else if (type == FACT_WAIT)
		OUTCOME_KEEP(waits, wait);
	else if (type == FACT_COLLECTIVE)
		OUTCOME_KEEP(collectives, collective);
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
	VEC(struct ub_stats) stats = { 0 };

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
		vec_push(&stats, source.stats);
	}
	seed_keep(jobs, stats.data, count);
	vec_release(&stats);
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
	vec_release(&outcome->waits);
	vec_release(&outcome->collectives);
	vec_release(&outcome->memory);
	vec_release(&outcome->clocks);
	analysis_free(outcome->analysis);
}

/* ---- two processes of one host ---- */

struct pair {
	struct job job;
	struct task a, b;
	struct job *jobs[1];
	struct outcome out;
};

/* Neither process has a worker or an endpoint. */
static inline void pair_init_apart(struct pair *pair, const char *seen_from)
{
	job_init(&pair->job, "host-a", seen_from[0] == 's' ? "run" : "attach");
	pair->jobs[0] = &pair->job;
	pair->a = job_process(&pair->job, 1, 0, seen_from);
	pair->b = job_process(&pair->job, 2, 1, seen_from);
}

static inline void pair_connect(struct pair *pair)
{
	job_worker(&pair->a);
	job_worker(&pair->b);
	job_connect(&pair->a, &pair->b);
	job_connect(&pair->b, &pair->a);
}

static inline void pair_init(struct pair *pair, const char *seen_from)
{
	pair_init_apart(pair, seen_from);
	pair_connect(pair);
}

static inline void pair_analyse(struct pair *pair)
{
	analyse(&pair->out, pair->jobs, 1);
}

static inline void pair_release(struct pair *pair)
{
	outcome_release(&pair->out);
	job_release(&pair->job);
}

#endif
