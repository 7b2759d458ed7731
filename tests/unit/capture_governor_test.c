// SPDX-License-Identifier: BSD-3-Clause
/* What is recorded for a budget: costs in, steps out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "observe/capture/governor.h"

#define MS 1000000ull
#define S (1000 * MS)

/* A loop that pays that many ns for each group, and takes base ns itself. */
struct loop {
	double base, mpi, ucp, uct;
};

static struct governor_interval see(const struct governor *governor, const struct loop *loop,
				    uint64_t now)
{
	struct governor_interval interval = { .now = now };
	const double paid[UB_GROUPS] = { loop->mpi, loop->ucp, loop->uct, 0 };
	unsigned int groups = governor_groups(governor->step);
	double all = 0;

	for (int group = 0; group < UB_GROUPS; group++) {
		if (!(groups & 1u << group))
			continue;
		interval.odds[group] = paid[group] / loop->base;
		all += paid[group];
	}
	interval.share = all / (all + loop->base);
	return interval;
}

/* n intervals of 100 ms, until the step changes; returns how many it took, 0: it did not. */
static int until_change(struct governor *governor, const struct loop *loop, uint64_t *now, int n)
{
	for (int i = 1; i <= n; i++) {
		struct governor_interval interval;

		*now += 100 * MS;
		interval = see(governor, loop, *now);
		if (governor_decide(governor, &interval))
			return i;
	}
	return 0;
}

static void begin(struct governor *governor, const struct loop *loop, enum governor_step step)
{
	static const struct loop nothing = { 1, 0, 0, 0 };
	struct governor_interval interval;

	governor_init(governor, 0.03);
	governor->step = STEP_UCT;
	interval = see(governor, loop ? loop : &nothing, 1);
	governor_learn(governor, 1, 0xf, interval.odds);
	governor->step = step;
}

static void a_light_job_keeps_everything(void **state)
{
	static const struct loop light = { 1e6, 5000, 10000, 5000 };
	struct governor governor;
	uint64_t now = S;

	(void)state;
	begin(&governor, NULL, STEP_UCT);
	assert_int_equal(until_change(&governor, &light, &now, 1000), 0);
	assert_int_equal(governor.step, STEP_UCT);
}

/* Probes that repeat what others prove go first, for as long as some may. */
static void what_costs_no_detail_goes_first(void **state)
{
	static const struct loop over = { 1e6, 5000, 10000, 25000 };
	static const struct loop far_over = { 1e6, 5000, 10000, 45000 };
	struct governor_interval interval;
	struct governor governor;
	uint64_t now = S;

	(void)state;
	begin(&governor, NULL, STEP_UCT);
	for (int i = 0; i < 10; i++) {
		interval = see(&governor, &over, now += 100 * MS);
		interval.may_gain = true;
		assert_false(governor_decide(&governor, &interval));
	}
	assert_int_equal(until_change(&governor, &over, &now, 10), 2);
	begin(&governor, NULL, STEP_UCT);
	for (int i = 0; i < 2; i++) {
		interval = see(&governor, &far_over, now += 100 * MS);
		interval.may_gain = true;
		assert_int_equal(governor_decide(&governor, &interval), i);
	}
	assert_int_equal(governor.step, STEP_UCP);
}

static void two_intervals_over_take_one_group_away(void **state)
{
	static const struct loop loop = { 1e6, 5000, 10000, 20000 };
	struct governor governor;
	uint64_t now = S;

	(void)state;
	begin(&governor, NULL, STEP_UCT);
	assert_int_equal(until_change(&governor, &loop, &now, 10), 2);
	assert_int_equal(governor.step, STEP_UCP);
	assert_string_equal(governor.reason, "over budget");
	/* what is in place costs 1.5 %, all of it 3.4 %: it stays there while that is believed */
	assert_int_equal(until_change(&governor, &loop, &now, 100), 0);
}

static void one_interval_over_is_nothing(void **state)
{
	static const struct loop busy = { 1e6, 50000, 0, 0 }, light = { 1e6, 5000, 0, 0 };
	struct governor governor;
	uint64_t now = S;

	(void)state;
	begin(&governor, NULL, STEP_UCT);
	for (int i = 0; i < 10; i++) {
		assert_int_equal(until_change(&governor, &busy, &now, 1), 0);
		assert_int_equal(until_change(&governor, &light, &now, 1), 0);
	}
	assert_int_equal(governor.step, STEP_UCT);
}

/* A loop that takes more than twice as long: one interval, and as far down as it takes. */
static void a_storm_is_stopped_at_once(void **state)
{
	static const struct loop storm = { 250, 800, 1900, 700 };
	struct governor governor;
	uint64_t now = S;

	(void)state;
	begin(&governor, NULL, STEP_UCT);
	assert_int_equal(until_change(&governor, &storm, &now, 10), 1);
	assert_int_equal(governor.step, STEP_WINDOWS);
}

static void under_three_quarters_gives_back(void **state)
{
	static const struct loop busy = { 1e6, 1000, 20000, 20000 };
	static const struct loop quiet = { 1e6, 100, 2000, 2000 };
	struct governor governor;
	uint64_t now = S;

	(void)state;
	begin(&governor, &busy, STEP_UCP);
	/* 2.1 % with 4 % for all: stays */
	assert_int_equal(until_change(&governor, &busy, &now, 50), 0);
	/* a tenth of the calls: what is away is expected to cost a tenth, too */
	assert_int_not_equal(until_change(&governor, &quiet, &now, 20), 0);
	assert_int_equal(governor.step, STEP_UCT);
	assert_string_equal(governor.reason, "under budget");
}

/* Known to be over the budget, it is not tried again each second, but more and more rarely. */
static void a_failed_climb_is_not_repeated_soon(void **state)
{
	static const struct loop loop = { 1e6, 0, 20000, 40000 };
	struct governor governor;
	uint64_t now = S, climbed[4];

	(void)state;
	begin(&governor, &loop, STEP_UCP);
	for (int i = 0; i < 4; i++) {
		assert_int_not_equal(until_change(&governor, &loop, &now, 100000), 0);
		assert_int_equal(governor.step, STEP_UCT);
		climbed[i] = now;
		assert_int_equal(until_change(&governor, &loop, &now, 10), 2);
		assert_int_equal(governor.step, STEP_UCP);
	}
	for (int i = 1; i < 4; i++)
		assert_true(climbed[i] - climbed[i - 1] > 60 * S);
}

/* The estimate is wrong each time: the pause doubles. */
static void pauses_double(void **state)
{
	static const struct loop dear = { 1e6, 0, 1000, 90000 };
	struct governor governor;
	uint64_t now = S, before = 0, pause = 0;

	(void)state;
	begin(&governor, NULL, STEP_UCT);
	for (int i = 0; i < 6; i++) {
		assert_int_equal(until_change(&governor, &dear, &now, 10), 2);
		assert_int_equal(governor.step, STEP_UCP);
		before = now;
		governor.odds[UB_GROUP_UCT] = 0;
		assert_int_not_equal(until_change(&governor, &dear, &now, 10000), 0);
		assert_int_equal(governor.step, STEP_UCT);
		assert_true(now - before >= 2 * pause || now - before >= 64 * S);
		pause = now - before - 200 * MS;
	}
}

/* Nothing is over budget, but a group cannot be placed: each try costs a window. */
static void what_cannot_be_placed_is_tried_ever_later(void **state)
{
	static const struct loop light = { 1e6, 5000, 10000, 5000 };
	struct governor governor;
	uint64_t now = S;
	int before;

	(void)state;
	begin(&governor, NULL, STEP_UCT);
	governor_lower(&governor, now);
	assert_int_equal(governor.step, STEP_UCP);
	assert_string_equal(governor.reason, "not placed");
	before = until_change(&governor, &light, &now, 1000);
	assert_int_equal(governor.step, STEP_UCT);
	assert_true(before > 2);
	for (int i = 0; i < 3; i++) {
		int after;

		governor_lower(&governor, now);
		after = until_change(&governor, &light, &now, 10000);
		assert_int_equal(governor.step, STEP_UCT);
		assert_true(after > before);
		before = after;
	}
}

static void lost_records_take_a_group_away(void **state)
{
	static const struct loop light = { 1e6, 1000, 1000, 1000 };
	struct governor governor;
	struct governor_interval interval;

	(void)state;
	begin(&governor, NULL, STEP_UCT);
	interval = see(&governor, &light, S);
	interval.lost = true;
	assert_true(governor_decide(&governor, &interval));
	assert_int_equal(governor.step, STEP_UCP);
	assert_string_equal(governor.reason, "records lost");
}

/* Of a program without MPI calls, those alone would say nothing. */
static void never_blind(void **state)
{
	static const struct loop ucx = { 500, 0, 1900, 700 };
	struct governor governor;
	uint64_t now = S;

	(void)state;
	begin(&governor, NULL, STEP_UCT);
	assert_int_equal(until_change(&governor, &ucx, &now, 10), 1);
	assert_int_equal(governor.step, STEP_WINDOWS);
}

static void windows_end_with_the_storm(void **state)
{
	static const struct loop storm = { 250, 800, 1900, 700 };
	static const struct loop light = { 1e6, 500, 1000, 500 };
	struct governor governor;
	uint64_t now = S;

	(void)state;
	begin(&governor, &storm, STEP_WINDOWS);
	assert_int_equal(until_change(&governor, &storm, &now, 1000), 0);
	for (int i = 0; i < 3 && governor.step != STEP_UCT; i++)
		assert_int_not_equal(until_change(&governor, &light, &now, 40), 0);
	assert_int_equal(governor.step, STEP_UCT);
}

/* Length and what comes on top, times the share that is paid meanwhile, is the budget. */
static void windows_keep_the_budget(void **state)
{
	static const struct loop storm = { 250, 800, 1900, 700 };
	const double odds = (800 + 1900 + 700) / 250.0;
	struct governor governor;
	struct governor_windows windows;

	(void)state;
	begin(&governor, &storm, STEP_WINDOWS);
	windows = governor_windows(&governor, 5 * MS);
	assert_int_equal(windows.period, 1 * S);
	assert_true(windows.length > 26 * MS && windows.length < 28 * MS);
	assert_true(windows.length * odds / (1 + odds) + 5 * MS <= 0.03 * windows.period + 1);
	/* coming and going alone takes it all: less often */
	windows = governor_windows(&governor, 40 * MS);
	assert_int_equal(windows.period, 10 * S);
	assert_true(windows.length > 270 * MS && windows.length <= 300 * MS);
	windows = governor_windows(&governor, 400 * MS);
	assert_int_equal(windows.period, 60 * S);
	assert_int_equal(windows.length, 300 * MS);
	/* never to zero */
	windows = governor_windows(&governor, 4000 * MS);
	assert_int_equal(windows.period, 60 * S);
	assert_int_equal(windows.length, 5 * MS);
}

static void forced_for_tests(void **state)
{
	static const enum governor_step steps[] = { STEP_UCP, STEP_MPI, STEP_WINDOWS,
						    STEP_MPI, STEP_UCP, STEP_UCT };
	static const struct loop light = { 1e6, 1, 1, 1 };
	struct governor governor;
	uint64_t now = S;

	(void)state;
	begin(&governor, NULL, STEP_UCT);
	governor.forced = true;
	for (int i = 0; i < 12; i++) {
		assert_int_equal(until_change(&governor, &light, &now, 1), 1);
		assert_int_equal(governor.step, steps[i % 6]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_light_job_keeps_everything),
		cmocka_unit_test(what_costs_no_detail_goes_first),
		cmocka_unit_test(two_intervals_over_take_one_group_away),
		cmocka_unit_test(one_interval_over_is_nothing),
		cmocka_unit_test(a_storm_is_stopped_at_once),
		cmocka_unit_test(under_three_quarters_gives_back),
		cmocka_unit_test(a_failed_climb_is_not_repeated_soon),
		cmocka_unit_test(pauses_double),
		cmocka_unit_test(what_cannot_be_placed_is_tried_ever_later),
		cmocka_unit_test(lost_records_take_a_group_away),
		cmocka_unit_test(never_blind),
		cmocka_unit_test(windows_end_with_the_storm),
		cmocka_unit_test(windows_keep_the_budget),
		cmocka_unit_test(forced_for_tests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
