// SPDX-License-Identifier: BSD-3-Clause
/* From measured samples to the time that all hits took in our programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "observe/capture/cost.h"

#define FEW "too few hits were measured"

static void no_hit_costs_nothing(void **state)
{
	struct cost_samples samples = { 0 };
	uint64_t ns, spread;

	(void)state;
	assert_null(cost_estimate(&samples, 0, &ns, &spread));
	assert_int_equal(ns, 0);
	assert_int_equal(spread, 0);
}

/* As seen once: 21 hits of 400,000, in which the thread had lost its CPU. */
static void few_hits_say_nothing(void **state)
{
	struct cost_samples samples = { 0 };
	uint64_t ns, spread;

	(void)state;
	assert_string_equal(cost_estimate(&samples, 400000, &ns, &spread), FEW);
	for (int i = 0; i < 3; i++)
		cost_sampled(&samples, 150000, 7);
	assert_string_equal(cost_estimate(&samples, 400000, &ns, &spread), FEW);
	assert_int_equal(ns, 0);
	assert_int_equal(spread, 0);
}

static void one_long_sample_has_no_spread(void **state)
{
	struct cost_samples samples = { 0 };
	uint64_t ns, spread;

	(void)state;
	cost_sampled(&samples, 2000000, 10000);
	cost_sampled(&samples, 2000000, 10000);
	/* nor has one in which nothing was hit */
	cost_sampled(&samples, 0, 0);
	assert_string_equal(cost_estimate(&samples, 400000, &ns, &spread), FEW);
}

static void equal_samples_are_certain(void **state)
{
	struct cost_samples samples = { 0 };
	uint64_t ns, spread;

	(void)state;
	/* of different lengths, all of 200 ns a hit */
	for (uint64_t i = 1; i <= 4; i++)
		cost_sampled(&samples, 200000 * i, 1000 * i);
	assert_null(cost_estimate(&samples, 1000000, &ns, &spread));
	assert_int_equal(ns, 200000000);
	assert_true(spread < 1000);
}

/* 100, 200 and 300 ns a hit: mean 200, s = 100, 4.30 * 100 / sqrt(3) = 248. */
static void unequal_samples_say_by_how_much(void **state)
{
	struct cost_samples samples = { 0 };
	uint64_t ns, spread;

	(void)state;
	for (uint64_t i = 1; i <= 3; i++)
		cost_sampled(&samples, 100000 * i, 1000);
	assert_null(cost_estimate(&samples, 1000000, &ns, &spread));
	assert_int_equal(ns, 200000000);
	assert_int_equal((spread + 500000) / 1000000, 248);
}

/* Hits of 200 ns, a thousandth of which lose their CPU for 1 ms: the spread covers the truth. */
static void the_truth_is_within_the_spread(void **state)
{
	unsigned short seed[3] = { 1, 2, 3 };
	int within = 0;

	(void)state;
	for (int trial = 0; trial < 500; trial++) {
		struct cost_samples samples = { 0 };
		uint64_t ns, spread;

		for (int i = 0; i < 20; i++) {
			uint64_t hits = 5000 + nrand48(seed) % 5000, time = hits * 200;

			for (uint64_t hit = 0; hit < hits; hit++)
				time += nrand48(seed) % 1000 ? 0 : 1000000;
			cost_sampled(&samples, time, hits);
		}
		assert_null(cost_estimate(&samples, 1000000, &ns, &spread));
		within += llabs((long long)ns - 1200000000) <= (long long)spread;
	}
	/* 95 % */
	assert_in_range(within, 460, 490);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_hit_costs_nothing),
		cmocka_unit_test(few_hits_say_nothing),
		cmocka_unit_test(one_long_sample_has_no_spread),
		cmocka_unit_test(equal_samples_are_certain),
		cmocka_unit_test(unequal_samples_say_by_how_much),
		cmocka_unit_test(the_truth_is_within_the_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
