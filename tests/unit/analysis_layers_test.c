// SPDX-License-Identifier: BSD-3-Clause
/* Layers that a capture did not record all the time: what is not known then is no 0. */
#include "outcome.h"

static void window(struct job *job, uint64_t from, uint64_t to, const char *step)
{
	json_array_append_new(job->sides,
			      json_pack("{s:s, s:I, s:I, s:s}", "t", "window", "from",
					(json_int_t)from, "to", (json_int_t)to, "step", step));
}

static void level(struct job *job, const char *name)
{
	json_object_set_new(json_array_get(job->sides, 0), "level", json_string(name));
}

static void send(struct pair *r, bool transfer)
{
	job_call(&r->a, AT_MPI_SEND);
	if (transfer) {
		job_pass_short(&r->a, &r->b, 7, 3);
		return;
	}
	job_op(&r->a, AT_TAG_SEND, EP(r->a.tgid, r->b.tgid), 7, 3, 0);
	job_op_end(&r->a);
}

/* A budget that takes transfers away, and then operations. */
static void windows_of_a_budget(void **state)
{
	const struct fact_self *self;
	struct pair r;
	uint64_t first;

	(void)state;
	pair_init(&r, "attach");
	first = r.job.now;
	send(&r, false);
	window(&r.job, first, first + 10000, "ucp");
	r.job.now = first + 20000;
	job_call(&r.a, AT_MPI_SEND);
	job_polls(&r.a, 5, 100);
	window(&r.job, first + 20000, first + 50000, "mpi");
	pair_analyse(&r);
	self = &r.out.totals.self;
	assert_int_equal(r.out.calls.len, 3); /* the last of the loop has an end of its own */
	assert_int_equal(r.out.calls.data[0].ops, 1);
	assert_int_equal(r.out.calls.data[0].bytes, 3);
	for (size_t i = 1; i < r.out.calls.len; i++) {
		assert_int_equal(r.out.calls.data[i].ops, UINT64_MAX);
		assert_int_equal(r.out.calls.data[i].bytes, UINT64_MAX);
	}
	assert_int_equal(r.out.loops.len, 1);
	assert_int_equal(r.out.loops.data[0].sums.ops_unknown, 4);
	assert_int_equal(r.out.loops.data[0].sums.bytes_unknown, 4);
	assert_int_equal(self->level_ns[LEVEL_MPI], 40000);
	assert_int_equal(self->level_ns[LEVEL_UCP], 10000);
	assert_int_equal(self->level_ns[LEVEL_UCT], 0);
	assert_int_equal(fact_recorded(self, LEVEL_MPI), RECORDED_ALWAYS);
	assert_int_equal(fact_recorded(self, LEVEL_UCP), RECORDED_PARTLY);
	assert_int_equal(fact_recorded(self, LEVEL_UCT), RECORDED_NEVER);
	assert_int_equal(reason_count(r.out.totals.unmatched_sends, "no transfer seen"), 1);
	pair_release(&r);
}

static void windows_of_all_layers(void **state)
{
	struct pair r;

	(void)state;
	pair_init(&r, "attach");
	window(&r.job, r.job.now, r.job.now + 10000, "windows");
	send(&r, true);
	pair_analyse(&r);
	assert_int_equal(r.out.calls.data[0].ops, 1);
	assert_int_equal(fact_recorded(&r.out.totals.self, LEVEL_UCT), RECORDED_ALWAYS);
	assert_int_equal(reason_count(r.out.totals.unmatched_sends, "no transfer seen"), 0);
	pair_release(&r);
}

/* No layer was recorded for any time: that is no level of its own. */
static void no_window_at_all(void **state)
{
	struct pair r;

	(void)state;
	pair_init(&r, "attach");
	json_array_append_new(r.job.sides, json_pack("{s:s, s:I, s:s}", "t", "budget", "ts",
						     (json_int_t)r.job.now, "step", "windows"));
	pair_analyse(&r);
	assert_true(r.out.totals.self.levels[LEVEL_UCT]);
	assert_false(r.out.totals.self.levels[LEVEL_MPI]);
	assert_int_equal(fact_recorded(&r.out.totals.self, LEVEL_UCT), RECORDED_ALWAYS);
	pair_release(&r);
}

static void level_of_a_capture(void **state)
{
	static const struct {
		const char *name;
		uint64_t ops;
		enum fact_extent ucp, uct;
	} cases[] = {
		{ "mpi", UINT64_MAX, RECORDED_NEVER, RECORDED_NEVER },
		{ "ucp", 0, RECORDED_ALWAYS, RECORDED_NEVER },
		{ "uct", 0, RECORDED_ALWAYS, RECORDED_ALWAYS },
		{ NULL, 0, RECORDED_ALWAYS, RECORDED_ALWAYS }, /* an old one */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pair r;

		pair_init(&r, "start");
		if (cases[i].name)
			level(&r.job, cases[i].name);
		job_call(&r.a, AT_MPI_SEND);
		pair_analyse(&r);
		assert_int_equal(r.out.calls.data[0].ops, cases[i].ops);
		assert_int_equal(fact_recorded(&r.out.totals.self, LEVEL_UCP), cases[i].ucp);
		assert_int_equal(fact_recorded(&r.out.totals.self, LEVEL_UCT), cases[i].uct);
		pair_release(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_of_a_budget),
		cmocka_unit_test(windows_of_all_layers),
		cmocka_unit_test(no_window_at_all),
		cmocka_unit_test(level_of_a_capture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
