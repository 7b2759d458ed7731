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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_counted),
		cmocka_unit_test(others_may_be_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
