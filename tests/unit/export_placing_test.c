// SPDX-License-Identifier: BSD-3-Clause
/* The order of processes and hosts in timelines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "show/export/placing.h"

static const char early[] = "job", late[] = "another"; /* by their first process */
static struct spans spans;

static void begin(void)
{
	spans_init(&spans, LEVEL_MPI);
}

static void process(int index, int host, int rank, const char *job)
{
	const struct fact_sink sink = spans_sink(&spans);

	fact_put(&sink, FACT_PROCESS,
		 &(struct fact_process){ .index = index, .host = host, .rank = rank, .job = job });
}

static struct placing place(void)
{
	struct placing placing = { 0 };
	char why[EXPORT_WHY];

	assert_int_equal(spans_finish(&spans, why), 0);
	placing_make(&placing, &spans);
	return placing;
}

static void end(struct placing *placing)
{
	placing_release(placing);
	spans_release(&spans);
}

static void by_rank(void **state)
{
	static const int processes[] = { 5, 3, 0, 4, 1, 2 }, hosts[] = { 1, 0, 2 };
	struct placing placing;

	(void)state;
	begin();
	process(0, 0, 10, early);
	process(1, 1, 1, late);
	process(3, 0, 2, early);
	process(4, 1, 0, late);
	process(5, 1, 0, early);
	/* no rank, and no process at all */
	process(2, 2, -1, NULL);
	placing = place();
	assert_int_equal(placing.process_order.len, 6);
	for (size_t i = 0; i < placing.process_order.len; i++) {
		assert_int_equal(placing.process_order.data[i], processes[i]);
		assert_int_equal(placing.process_turns.data[processes[i]], i);
	}
	assert_int_equal(placing.host_order.len, 3);
	for (size_t i = 0; i < placing.host_order.len; i++) {
		assert_int_equal(placing.host_order.data[i], hosts[i]);
		assert_int_equal(placing.host_turns.data[hosts[i]], i);
	}
	end(&placing);
}

/* Gaps among processes, and hosts of which no process is known, come last. */
static void unknown(void **state)
{
	static const int processes[] = { 2, 0, 1 }, hosts[] = { 1, 0 };
	struct placing placing;

	(void)state;
	begin();
	process(2, 1, 3, NULL);
	placing = place();
	assert_int_equal(placing.process_order.len, 3);
	for (size_t i = 0; i < placing.process_order.len; i++)
		assert_int_equal(placing.process_order.data[i], processes[i]);
	assert_int_equal(placing.host_order.len, 2);
	for (size_t i = 0; i < placing.host_order.len; i++)
		assert_int_equal(placing.host_order.data[i], hosts[i]);
	end(&placing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_rank),
		cmocka_unit_test(unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
