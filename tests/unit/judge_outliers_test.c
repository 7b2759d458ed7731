// SPDX-License-Identifier: BSD-3-Clause
/* Which nodes and pairs are slow, and which are not. All the numbers: tests/bench/outliers.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "unit/outlier_sweeps.h"

static void slow_node_is_found(void **state)
{
	const struct sweep sweep = { .nodes = 64, .rounds = 15, .hit = .02 };

	(void)state;
	/* and nothing else, in 30 sweeps each */
	assert_true(simulate(sweep, .05, 30, false).found == 1);
	assert_true(simulate(sweep, .05, 30, false).sweep_flagged == 0);
	assert_true(simulate(sweep, .10, 30, false).found == 1);
	assert_true(simulate(sweep, 0, 30, false).sweep_flagged == 0);
	assert_true(simulate(sweep, 0, 30, false).found == 0);
}

/* Below the floor of 3 % nothing is slow. */
static void floor_holds(void **state)
{
	const struct sweep sweep = { .nodes = 64, .rounds = 15, .hit = .02 };

	(void)state;
	assert_true(simulate(sweep, .015, 30, false).found == 0);
}

/* One round is not enough: of 30 clean sweeps, about every third has a false alarm. */
static void one_round_tells_nothing(void **state)
{
	const struct sweep sweep = { .nodes = 64, .rounds = 1, .hit = .02 };

	(void)state;
	assert_in_range(30 * simulate(sweep, 0, 30, false).sweep_flagged, 5, 25);
}

/* Suspected twice, in rounds of their own: congestion that hits a fifth of all alarms nobody. */
static void confirmed(void **state)
{
	const struct sweep sweep = { .nodes = 64, .rounds = 15, .hit = .2 };

	(void)state;
	assert_true(simulate(sweep, 0, 30, true).sweep_flagged == 0);
	assert_in_range(30 * simulate(sweep, .05, 30, true).found, 27, 30);
}

static void add(struct outliers *outliers, int a, int b, uint32_t round, double value)
{
	vec_push(&outliers->values,
		 ((struct outlier_value){ .a = a, .b = b, .round = round, .value = value }));
}

/* The circle of four, three times; node 3 or the pair of 0 and 1 has that share of the others. */
static void make_four(struct outliers *outliers, double node, double pair)
{
	static const int met[3][4] = { { 0, 1, 2, 3 }, { 0, 2, 1, 3 }, { 0, 3, 1, 2 } };

	for (int i = 0; i < 4; i++)
		vec_push(&outliers->nodes, ((struct outlier_node){ 0 }));
	for (int round = 0; round < 9; round++)
		for (int i = 0; i < 4; i += 2) {
			int a = met[round % 3][i], b = met[round % 3][i + 1];

			add(outliers, a, b, round,
			    100 * (b == 3 ? node : 1) * (a == 0 && b == 1 ? pair : 1));
		}
}

static void four_nodes(void **state)
{
	const struct outlier_limits three = { .mad = 6, .floor = .03, .rounds = 3 };
	struct outliers outliers = { 0 };

	(void)state;
	make_four(&outliers, .5, 1);
	outliers_nodes(&outliers, &three);
	outliers_pairs(&outliers, &three);
	for (int i = 0; i < 4; i++)
		assert_int_equal(outliers.nodes.data[i].slow, i == 3);
	assert_true(fabs(outliers.nodes.data[3].score / outliers.nodes.data[3].center - .5) < 1e-9);
	assert_int_equal(outliers.pairs.len, 6);
	for (int i = 0; i < 6; i++)
		assert_false(outliers.pairs.data[i].slow);
	outliers_release(&outliers);

	make_four(&outliers, 1, .5);
	outliers_nodes(&outliers, &three);
	outliers_pairs(&outliers, &three);
	for (int i = 0; i < 4; i++)
		assert_false(outliers.nodes.data[i].slow);
	for (int i = 0; i < 6; i++)
		assert_int_equal(outliers.pairs.data[i].slow,
				 outliers.pairs.data[i].a == 0 && outliers.pairs.data[i].b == 1);
	outliers_release(&outliers);
}

/* As many as share a machine's cores: one of four that is a tenth as fast, or half of them. */
static void few_noisy_nodes(void **state)
{
	struct sweep sweep = { .nodes = 4, .rounds = 9, .hit = .02, .noise = .15, .least = 3 };

	(void)state;
	assert_true(simulate(sweep, .9, 200, false).found == 1);
	assert_true(simulate(sweep, .9, 200, false).sweep_flagged == 0);
	assert_in_range(200 * simulate(sweep, .5, 200, false).found, 150, 190);
	assert_in_range(200 * simulate(sweep, 0, 200, false).sweep_flagged, 0, 4);
	sweep.nodes = 3;
	assert_true(simulate(sweep, .9, 200, false).found == 1);
	assert_true(simulate(sweep, .9, 200, false).sweep_flagged == 0);
}

/* Two nodes are slower than each other, or neither is. */
static void two_nodes(void **state)
{
	const struct outlier_limits one = { .mad = 6, .floor = .03, .rounds = 1 };
	struct outliers outliers = { 0 };

	(void)state;
	vec_push(&outliers.nodes, ((struct outlier_node){ 0 }));
	vec_push(&outliers.nodes, ((struct outlier_node){ 0 }));
	add(&outliers, 0, 1, 0, 1);
	outliers_nodes(&outliers, &one);
	assert_true(isnan(outliers.nodes.data[0].center));
	assert_false(outliers.nodes.data[0].slow || outliers.nodes.data[1].slow);
	outliers_release(&outliers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_node_is_found),
		cmocka_unit_test(floor_holds),
		cmocka_unit_test(one_round_tells_nothing),
		cmocka_unit_test(confirmed),
		cmocka_unit_test(four_nodes),
		cmocka_unit_test(few_noisy_nodes),
		cmocka_unit_test(two_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
