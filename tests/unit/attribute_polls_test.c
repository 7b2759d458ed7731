// SPDX-License-Identifier: BSD-3-Clause
/* Loops of calls that poll, one record each: records inside of them, and their ends. */
#include "outcome.h"

static const struct fact_call *call_of(const struct pair *pair, const char *function)
{
	for (size_t i = 0; i < pair->out.calls.len; i++)
		if (!strcmp(pair->out.calls.data[i].function, function))
			return &pair->out.calls.data[i];
	fail();
	return NULL;
}

/* Nothing is inside of the calls but for the last one, which is a call like any other. */
static void the_last_one_stands_by_itself(void **state)
{
	const struct outcome_sum *loop;
	const struct fact_call *last;
	uint64_t first, next;
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	job_post(&r.b, 7, UINT64_MAX, 0x9100);
	first = job_polls(&r.b, 50, 20)->call.h.ts;
	job_send_short(&r.a, &r.b, 7, 5);
	job_arrive(&r.b, 7, 5, 0x9100);
	job_call(&r.b, AT_MPI_RECV);
	next = r.job.records.data[r.job.records.len - 1].h.ts;
	pair_analyse(&r);
	assert_int_equal(r.out.loops.len, 1);
	loop = &r.out.loops.data[0];
	assert_string_equal(loop->call.function, "MPI_Test");
	assert_int_equal(loop->call.id, 0);
	assert_int_equal(loop->call.start, first);
	assert_int_equal(loop->call.end, first + 49 * 20);
	assert_int_equal(loop->call.until, first + 49 * 20);
	assert_int_equal(loop->sums.count, 49);
	assert_int_equal(loop->sums.timed, 49);
	assert_int_equal(loop->sums.time, 0);
	assert_int_equal(loop->sums.precision, TIME_LOWER_BOUND);
	assert_int_equal(fact_time_most(&loop->call, &loop->sums), 49 * 20);
	last = call_of(&r, "MPI_Test");
	assert_int_equal(last->start, first + 49 * 20);
	assert_int_equal(last->until, next);
	assert_true(last->end > last->start); /* the message arrived in it */
	assert_int_equal(r.out.totals.calls.recorded, 49 + r.out.calls.len);
	assert_int_equal(r.out.totals.matched, 1);
	pair_release(&r);
}

static void two_are_two_calls(void **state)
{
	uint64_t first;
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	first = job_polls(&r.b, 2, 20)->call.h.ts;
	pair_analyse(&r);
	assert_int_equal(r.out.loops.len, 0);
	assert_int_equal(r.out.calls.len, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(r.out.calls.data[i].start, first + i * 20);
		assert_int_equal(r.out.calls.data[i].end_precision, TIME_LOWER_BOUND);
	}
	assert_int_equal(r.out.calls.data[0].until, first + 20);
	pair_release(&r);
}

static void one_is_a_call(void **state)
{
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	job_polls(&r.b, 1, 20);
	pair_analyse(&r);
	assert_int_equal(r.out.loops.len, 0);
	assert_int_equal(r.out.calls.len, 1);
	pair_release(&r);
}

/* The end of the last one may have a record of its own: something was in between. */
static void ends(void **state)
{
	(void)state;
	for (uint32_t open = 0; open < 2; open++) {
		const struct fact_call *last;
		struct ub_polls *polls;
		struct pair r;

		pair_init(&r, "start");
		polls = job_polls(&r.b, 10, 20);
		polls->ended = 10 - open;
		polls->time = polls->ended * 8;
		polls->call.h.dur += open ? 0 : 8;
		if (open) {
			struct ub_hdr *end = job_add(&r.b, AT_MPI_TEST, 0);

			end->kind = UB_CALL_END;
		}
		pair_analyse(&r);
		assert_int_equal(r.out.loops.data[0].sums.count, 9);
		assert_int_equal(r.out.loops.data[0].sums.time, 9 * 8);
		assert_int_equal(r.out.loops.data[0].sums.precision, TIME_EXACT);
		last = &r.out.calls.data[0];
		assert_int_equal(last->end_precision, TIME_EXACT);
		assert_int_equal(last->end - last->start, open ? 100 : 8);
		assert_int_equal(last->until, last->end);
		pair_release(&r);
	}
}

/* MPI polls inside of a call of the application. Further records are inside of the last poll. */
static void inside_of_another_call(void **state)
{
	const struct fact_call *call;
	struct ub_polls *polls;
	uint32_t outer;
	struct pair r;

	(void)state;
	pair_init(&r, "start");
	json_array_append_new(r.job.sides,
			      json_pack("{s:s, s:i, s:[s], s:s, s:s, s:I}", "t", "library", "tgid",
					r.b.tgid, "roles", "mpi", "path", "/lib/libmpi.so", "base",
					"0x5000", "ts", (json_int_t)r.job.now));
	job_post(&r.b, 7, UINT64_MAX, 0x9100);
	outer = r.b.call;
	polls = job_polls(&r.b, 50, 20);
	polls->call.h.call = outer;
	job_send_short(&r.a, &r.b, 7, 5);
	job_arrive(&r.b, 7, 5, 0x9100);
	pair_analyse(&r);
	assert_int_equal(r.out.loops.len, 0);
	assert_int_equal(r.out.calls.len, 2);
	call = call_of(&r, "MPI_Recv");
	assert_true(call->end > call->start + 49 * 20);
	assert_int_equal(r.out.totals.matched, 1);
	pair_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_one_stands_by_itself),
		cmocka_unit_test(two_are_two_calls),
		cmocka_unit_test(one_is_a_call),
		cmocka_unit_test(ends),
		cmocka_unit_test(inside_of_another_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
