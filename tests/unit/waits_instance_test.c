// SPDX-License-Identifier: BSD-3-Clause
/* Collective operations of two ranks, and what is known of their messages. */
#include "outcome.h"

#define TAG 7

/* Messages of the present calls from a to b, which wait for b. */
static void pass_many(struct pair *pair, unsigned int count, uint64_t bytes)
{
	for (unsigned int i = 0; i < count; i++) {
		job_pass_short(&pair->a, &pair->b, TAG, bytes);
		job_arrive(&pair->b, TAG, bytes, 0);
		job_find(&pair->b, TAG, UINT64_MAX, TAG, bytes);
	}
}

static void begin(struct pair *pair)
{
	job_call(&pair->a, AT_MPI_ALLREDUCE);
	job_call(&pair->b, AT_MPI_ALLREDUCE);
}

/* Calls that follow end the ones before. */
static void end(struct pair *pair)
{
	job_call(&pair->a, AT_MPI_SEND);
	job_call(&pair->b, AT_MPI_SEND);
}

static void assert_messages(const struct fact_collective *fact, uint64_t messages, uint64_t bytes)
{
	assert_string_equal(fact->function, "MPI_Allreduce");
	assert_int_equal(fact->messages, messages);
	assert_int_equal(fact->bytes, messages * bytes);
	assert_int_equal(fact->most_sent, messages);
}

/* Each operation has its own; also where more than 65,536 messages are not kept. */
static void messages_are_counted(void **state)
{
	const struct fact_collective *facts;
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	begin(&r);
	pass_many(&r, 70000, 5);
	begin(&r);
	pass_many(&r, 3, 9);
	end(&r);
	pair_analyse(&r);
	facts = r.out.collectives.data;
	assert_int_equal(r.out.collectives.len, 2);
	assert_messages(&facts[0], 70000, 5);
	assert_false(facts[0].bytes_bound);
	assert_null(facts[0].algorithm);
	assert_string_equal(facts[0].reason, "too many messages");
	assert_messages(&facts[1], 3, 9);
	assert_false(facts[1].bytes_bound);
	assert_string_equal(facts[1].reason, "two ranks: all algorithms are the same");
	pair_release(&r);
}

/* A call that is not seen to end may have sent more. */
static void others_may_be_missing(void **state)
{
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	begin(&r);
	pass_many(&r, 3, 9);
	pair_analyse(&r);
	assert_int_equal(r.out.collectives.len, 1);
	assert_messages(r.out.collectives.data, 3, 9);
	assert_true(r.out.collectives.data[0].bytes_bound);
	pair_release(&r);
}

#define COMM 0x5510
#define CONTEXT 5 /* of its messages */
#define COLLECTIVE_TAG (1ull << 63 | CONTEXT)

/* Both ranks call MPI_Init, and a communicator's collectives. */
static void numbered_init(struct pair *pair, const char *seen_from)
{
	pair_init(pair, seen_from);
	job_call(&pair->a, AT_MPI_INIT);
	job_call(&pair->b, AT_MPI_INIT);
}

/* A collective of both, with a message. */
static void reduce(struct pair *pair, uint64_t comm)
{
	job_call_on(&pair->a, AT_MPI_ALLREDUCE, comm);
	job_call_on(&pair->b, AT_MPI_ALLREDUCE, comm);
	job_pass_short(&pair->a, &pair->b, COLLECTIVE_TAG, 8);
	job_arrive(&pair->b, COLLECTIVE_TAG, 8, 0);
	job_find(&pair->b, COLLECTIVE_TAG, UINT64_MAX, COLLECTIVE_TAG, 8);
}

static void numbered_end(struct pair *pair)
{
	end(pair);
	pair_analyse(pair);
}

static void assert_number(const struct pair *pair, size_t at, uint64_t sequence, const char *reason)
{
	const struct fact_collective *fact = &pair->out.collectives.data[at];

	assert_true(at < pair->out.collectives.len);
	assert_int_equal(fact->sequence, sequence);
	if (reason)
		assert_string_equal(fact->sequence_reason, reason);
	else
		assert_null(fact->sequence_reason);
}

static void calls_are_numbered(void **state)
{
	const struct fact_joins *joins;
	unsigned int numbered = 0;
	struct pair r;

	(void)state;
	numbered_init(&r, "start");
	reduce(&r, COMM);
	reduce(&r, COMM + 16);
	reduce(&r, COMM);
	numbered_end(&r);
	joins = &r.out.totals.joins;
	assert_number(&r, 0, 1, NULL);
	assert_number(&r, 1, 1, NULL);
	assert_number(&r, 2, 2, NULL);
	assert_int_equal(joins->proved, 3);
	assert_int_equal(joins->contradicted, 0);
	assert_int_equal(reason_sum(joins->unproved), 0);
	assert_int_equal(r.out.collectives.data[2].context, CONTEXT);
	for (size_t i = 0; i < r.out.calls.len; i++) {
		const struct fact_call *call = &r.out.calls.data[i];

		assert_true(!call->sequence == !!strcmp(call->function, "MPI_Allreduce"));
		assert_int_equal(call->context, call->sequence ? CONTEXT : -1);
		numbered += call->sequence > 0;
	}
	assert_int_equal(numbered, 6);
	pair_release(&r);
}

/* One rank made a call that the other one did not: messages join what is not one operation. */
static void other_numbers_contradict(void **state)
{
	const struct fact_collective *fact;
	struct pair r;

	(void)state;
	numbered_init(&r, "start");
	job_call_on(&r.a, AT_MPI_ALLREDUCE, COMM);
	reduce(&r, COMM);
	numbered_end(&r);
	fact = r.out.collectives.data;
	assert_int_equal(r.out.collectives.len, 1);
	assert_int_equal(r.out.totals.joins.contradicted, 1);
	assert_int_equal(r.out.totals.joins.proved, 0);
	assert_int_equal(reason_count(r.out.totals.notes, FACT_CONTRADICTED), 1);
	assert_true(fact->contradicted);
	assert_int_equal(fact->sequence, 0);
	assert_int_equal(fact->ranks, -1);
	assert_string_equal(fact->reason, "its calls have different numbers");
	for (size_t i = 0; i < r.out.waits.len; i++)
		assert_string_not_equal(r.out.waits.data[i].kind, "at_nxn");
	pair_release(&r);
}

static void a_late_start_has_no_numbers(void **state)
{
	const char *reason = "a rank was not traced from its start";
	struct pair r;

	(void)state;
	pair_init(&r, "start"); /* without MPI_Init */
	reduce(&r, COMM);
	numbered_end(&r);
	assert_number(&r, 0, 0, reason);
	assert_int_equal(reason_count(r.out.totals.joins.unproved, reason), 1);
	pair_release(&r);
}

/* Records are missing somewhere, also after the call. */
static void losses_have_no_numbers(void **state)
{
	struct pair r;

	(void)state;
	numbered_init(&r, "start");
	job_call_on(&r.a, AT_MPI_ALLREDUCE, COMM);
	job_damage_last(&r.job);
	reduce(&r, COMM);
	numbered_end(&r);
	assert_int_equal(r.out.totals.joins.contradicted, 0);
	for (size_t i = 0; i < r.out.calls.len; i++)
		assert_int_equal(r.out.calls.data[i].sequence, 0);
	pair_release(&r);
}

/* Records of one rank were lost: later calls of it may have other numbers, earlier ones do not. */
static void numbers_end_with_a_loss(void **state)
{
	static const uint64_t numbers[2][2] = { { 1, 0 }, { 1, 2 } };
	unsigned int seen[2] = { 0 };
	struct ub_loss *loss;
	struct pair r;

	(void)state;
	numbered_init(&r, "start");
	reduce(&r, COMM);
	job_call_on(&r.a, AT_MPI_ALLREDUCE, COMM);
	job_lose_last(&r.job);
	r.a.call = 0;
	loss = job_add(&r.a, AT_LOSS, 0);
	loss->until = r.job.now;
	loss->records = 1;
	reduce(&r, COMM);
	numbered_end(&r);
	assert_int_equal(r.out.totals.joins.contradicted, 0);
	for (size_t i = 0; i < r.out.calls.len; i++) {
		const struct fact_call *call = &r.out.calls.data[i];

		if (!strcmp(call->function, "MPI_Allreduce"))
			assert_int_equal(call->sequence,
					 numbers[call->process][seen[call->process]++]);
	}
	assert_int_equal(seen[0], 2);
	assert_int_equal(seen[1], 2);
	pair_release(&r);
}

/* Any of its communicators may have been that call's. */
static void numbers_end_where_no_communicator_was_read(void **state)
{
	struct pair r;

	(void)state;
	numbered_init(&r, "start");
	reduce(&r, COMM);
	reduce(&r, 0);
	reduce(&r, COMM);
	reduce(&r, COMM + 16);
	numbered_end(&r);
	assert_number(&r, 0, 1, NULL);
	assert_number(&r, 1, 0, "its communicator is not recorded");
	assert_number(&r, 2, 0, "a collective before it has no recorded communicator");
	assert_number(&r, 3, 0, "a collective before it has no recorded communicator");
	pair_release(&r);
}

/* A record is inside a call that has none, although no loss is known. */
static void numbers_end_with_a_call_that_is_missing(void **state)
{
	struct pair r;

	(void)state;
	numbered_init(&r, "start");
	reduce(&r, COMM);
	for (int i = 0; i < 2; i++) {
		struct task *task = i ? &r.b : &r.a;

		task->call = ++r.job.seq;
		job_find(task, TAG, UINT64_MAX, TAG, 8);
	}
	reduce(&r, COMM);
	numbered_end(&r);
	assert_number(&r, 0, 1, NULL);
	assert_number(&r, 1, 0, "calls before it may be missing");
	pair_release(&r);
}

static void unprobed_functions_leave_no_numbers(void **state)
{
	const char *const causes[] = { "missing", "refused" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(causes); i++) {
		struct pair r;

		numbered_init(&r, "start");
		json_array_append_new(r.job.sides,
				      json_pack("{s:s, s:i, s:[s], s:s, s:s, s:I, s:i}", "t",
						"library", "tgid", r.a.tgid, "roles", "mpi", "path",
						"/lib/libmpi.so", "base", "0x5000", "ts",
						(json_int_t)r.job.now, causes[i], 1));
		reduce(&r, COMM);
		numbered_end(&r);
		assert_number(&r, 0, 1, "functions of its MPI library have no probe");
		pair_release(&r);
	}
}

/* One rank goes on for longer than its calls are kept, while the other is in its collective. */
static void numbers_outlive_other_members(void **state)
{
	unsigned int numbered = 0;
	struct pair r;

	(void)state;
	numbered_init(&r, "start");
	job_call_on(&r.b, AT_MPI_ALLREDUCE, COMM);
	job_call_on(&r.a, AT_MPI_ALLREDUCE, COMM);
	job_pass_short(&r.a, &r.b, COLLECTIVE_TAG, 8);
	job_arrive(&r.b, COLLECTIVE_TAG, 8, 0);
	job_find(&r.b, COLLECTIVE_TAG, UINT64_MAX, COLLECTIVE_TAG, 8);
	for (int i = 0; i < 40; i++)
		job_call(&r.a, AT_MPI_TEST);
	numbered_end(&r);
	assert_int_equal(r.out.collectives.len, 1);
	assert_number(&r, 0, 1, NULL);
	for (size_t i = 0; i < r.out.calls.len; i++) {
		const struct fact_call *call = &r.out.calls.data[i];

		if (strcmp(call->function, "MPI_Allreduce"))
			continue;
		assert_int_equal(call->sequence, 1);
		assert_int_equal(call->context, CONTEXT);
		numbered++;
	}
	assert_int_equal(numbered, 2);
	pair_release(&r);
}

/* Which communicator was freed is not known: those that were not used before are others. */
static void freed_handles_have_no_numbers(void **state)
{
	struct pair r;

	(void)state;
	numbered_init(&r, "start");
	reduce(&r, COMM);
	job_call(&r.a, AT_MPI_COMM_FREE);
	job_call(&r.b, AT_MPI_COMM_FREE);
	reduce(&r, COMM);
	reduce(&r, COMM + 16);
	numbered_end(&r);
	assert_number(&r, 0, 1, NULL);
	assert_number(&r, 1, 0,
		      "its communicator may have been freed, and another one has its handle");
	assert_number(&r, 2, 1, NULL);
	pair_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_counted),
		cmocka_unit_test(others_may_be_missing),
		cmocka_unit_test(calls_are_numbered),
		cmocka_unit_test(other_numbers_contradict),
		cmocka_unit_test(a_late_start_has_no_numbers),
		cmocka_unit_test(losses_have_no_numbers),
		cmocka_unit_test(numbers_end_with_a_loss),
		cmocka_unit_test(numbers_end_where_no_communicator_was_read),
		cmocka_unit_test(numbers_end_with_a_call_that_is_missing),
		cmocka_unit_test(unprobed_functions_leave_no_numbers),
		cmocka_unit_test(numbers_outlive_other_members),
		cmocka_unit_test(freed_handles_have_no_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
