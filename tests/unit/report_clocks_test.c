// SPDX-License-Identifier: BSD-3-Clause
/* What is said of two clocks is true of clocks that are known, and as narrow as messages allow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "explain/clocks/clocks.h"

#define SECOND 1000000000

static uint64_t seed = 88172645463325252;

static uint64_t random_below(uint64_t limit)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 8) % limit;
}

/* The other host's clock, by the first one's. */
struct truth {
	uint64_t from; /* of the first clock: when the offset is so */
	int64_t offset;
	double drift;
};

static uint64_t other_clock(const struct truth *truth, uint64_t at)
{
	return at + truth->offset + llround(truth->drift * ((double)at - (double)truth->from));
}

static int64_t offset_at(const struct truth *truth, uint64_t at)
{
	return (int64_t)(other_clock(truth, at) - at);
}

/* A message each way, that took so long. */
static void exchange(struct clocks *clocks, const struct truth *truth, uint64_t at, uint64_t delay)
{
	clocks_add(clocks, 3, 7, at, other_clock(truth, at + delay));
	clocks_add(clocks, 7, 3, other_clock(truth, at), at + delay);
}

static struct clock_estimate solve(struct clocks *clocks)
{
	struct clock_estimate estimate;

	clocks_order(clocks);
	assert_int_equal(clocks->list.len, 1);
	assert_int_equal(clocks->list.data[0].host, 3);
	assert_int_equal(clocks->list.data[0].other, 7);
	estimate = clocks_solve(&clocks->list.data[0]);
	clocks_release(clocks);
	return estimate;
}

static void assert_holds(const struct clock_estimate *estimate, const struct truth *truth)
{
	int64_t offset = llabs(estimate->offset - offset_at(truth, estimate->at));
	double drift = fabs(estimate->drift - truth->drift * 1e9);

	if (estimate->reason)
		fail_msg("unknown: %s", estimate->reason);
	if ((uint64_t)offset > estimate->offset_uncertainty)
		fail_msg("offset is %ld off, more than %lu", (long)offset,
			 (unsigned long)estimate->offset_uncertainty);
	if (drift > estimate->drift_uncertainty)
		fail_msg("drift is %f off, more than %lu", drift,
			 (unsigned long)estimate->drift_uncertainty);
}

static void the_truth_is_within(void **state)
{
	(void)state;
	for (int i = 0; i < 500; i++) {
		struct clocks clocks = { 0 };
		struct clock_estimate estimate;
		const struct truth truth = {
			.from = 1 + random_below(1000000000000000),
			.offset = (int64_t)random_below(2000000000000000),
			.drift = ((double)random_below(1001) - 500) * 1e-6,
		};
		uint64_t at = truth.from, messages = 1 + random_below(300);

		for (uint64_t k = 0; k < messages; k++) {
			at += random_below(SECOND);
			exchange(&clocks, &truth, at, 1 + random_below(50000));
		}
		estimate = solve(&clocks);
		assert_holds(&estimate, &truth);
	}
}

/* Delays of 2 us now and then, over 100 s: 2 us at most, and 2 us each way in 100 s. */
static void as_narrow_as_messages(void **state)
{
	const struct truth truth = { 5000000000, -123456789, 37e-6 };
	struct clocks clocks = { 0 };
	struct clock_estimate estimate;

	(void)state;
	for (uint64_t i = 0; i < 100000; i++)
		exchange(&clocks, &truth, truth.from + i * (SECOND / 1000),
			 i % 10 ? 2000 + random_below(SECOND / 100) : 2000);
	estimate = solve(&clocks);
	assert_holds(&estimate, &truth);
	assert_in_range(estimate.offset_uncertainty, 1900, 2100);
	assert_in_range(estimate.drift_uncertainty, 30, 60);
}

/* Bytes of the bounds are the same in whatever order messages come. */
static void any_order(void **state)
{
	const struct truth truth = { 1000, 5, 1e-6 };
	struct clocks forth = { 0 }, back = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		exchange(&forth, &truth, 1000 + i * i * 100, 100 + i * 7919 % 1000);
		exchange(&back, &truth, 1000 + (999 - i) * (999 - i) * 100,
			 100 + (999 - i) * 7919 % 1000);
	}
	assert_memory_equal(&forth.list.data[0].there, &back.list.data[0].there,
			    sizeof(struct clock_bounds));
	assert_memory_equal(&forth.list.data[0].back, &back.list.data[0].back,
			    sizeof(struct clock_bounds));
	clocks_release(&forth);
	clocks_release(&back);
}

static void one_exchange(void **state)
{
	const struct truth truth = { 1000, 77, 0 };
	struct clocks clocks = { 0 };
	struct clock_estimate estimate;

	(void)state;
	exchange(&clocks, &truth, 2000, 10);
	estimate = solve(&clocks);
	assert_holds(&estimate, &truth);
	assert_in_range(estimate.offset_uncertainty, 10, 14);
	assert_in_range(estimate.drift_uncertainty, 1000000, 1000002);
}

static void what_is_not_known(void **state)
{
	const struct truth truth = { 1000, 77, 0 }, later = { 1000, 99999999, 0 };
	struct clocks clocks = { 0 };
	struct clock_estimate estimate;

	(void)state;
	clocks_add(&clocks, 3, 7, 1000, 2000);
	clocks_add(&clocks, 3, 3, 1000, 2000);
	clocks_add(&clocks, -1, 3, 1000, 2000);
	clocks_add(&clocks, 7, 3, 0, 2000);
	clocks_add(&clocks, 7, 3, 1000, 0);
	estimate = solve(&clocks);
	assert_string_equal(estimate.reason, "messages went one way alone");

	/* the second one was set forward by 0.1 s, then back */
	exchange(&clocks, &truth, SECOND, 10);
	exchange(&clocks, &later, 2l * SECOND, 10);
	exchange(&clocks, &truth, 3l * SECOND, 10);
	estimate = solve(&clocks);
	assert_string_equal(estimate.reason,
			    "no two clocks of constant rates fit: one of them was set");
}

/* Of three hosts in a chain, each pair with the others' clocks known: the ends are joined through
 * the middle. */
static void placed(void **state)
{
	static const int64_t ahead[] = { 0, 5000000, -3000000, 77 }; /* of host 0, ns */
	struct clock_place places[4];
	struct clocks clocks = { 0 };

	(void)state;
	for (uint64_t at = SECOND; at < 2ull * SECOND; at += SECOND / 10)
		for (int host = 0; host < 2; host++) {
			const uint64_t sent = at + (uint64_t)ahead[host];
			const uint64_t there = at + (uint64_t)ahead[host + 1];

			clocks_add(&clocks, host, host + 1, sent, there + 400);
			clocks_add(&clocks, host + 1, host, there, sent + 400);
		}
	clocks_add(&clocks, 2, 3, SECOND, SECOND); /* one way alone: it joins nothing */
	clocks_order(&clocks);
	clocks_place(&clocks, 4, places);
	for (int host = 0; host < 3; host++) {
		assert_int_equal(places[host].reference, 0);
		assert_true(llabs(places[host].offset + ahead[host]) <=
			    (int64_t)places[host].uncertainty);
		assert_true(places[host].uncertainty <= (uint64_t)host * 450);
	}
	assert_int_equal(places[3].reference, 3);
	assert_int_equal(places[3].offset, 0);
	clocks_release(&clocks);
}

/* The offset is that of its time, whatever the drift; hosts that are not listed join nothing. */
static void placed_with_drift(void **state)
{
	const struct truth truth = { SECOND, 40000, 50e-6 };
	struct clock_place places[8];
	struct clocks clocks = { 0 };

	(void)state;
	for (uint64_t at = SECOND; at < 3ull * SECOND; at += SECOND / 50)
		exchange(&clocks, &truth, at, 300);
	clocks_order(&clocks);
	clocks_place(&clocks, 8, places);
	assert_int_equal(places[7].reference, 3);
	/* its own clock gains 50 ns in each ms */
	assert_true(llabs(places[7].offset + offset_at(&truth, places[7].at)) < 1000);
	clocks_place(&clocks, 4, places);
	assert_int_equal(places[3].reference, 3);
	clocks_release(&clocks);
}

/* A time of day is believed as far as messages allow it. */
static void by_time_of_day(void **state)
{
	const struct clock_place place = { .offset = -500, .uncertainty = 200 };

	(void)state;
	assert_int_equal(clock_place_offset(&place, true, -300), -300);
	assert_int_equal(clock_place_offset(&place, true, -700), -700);
	assert_int_equal(clock_place_offset(&place, true, -299), -500);
	assert_int_equal(clock_place_offset(&place, true, 5000000), -500);
	assert_int_equal(clock_place_offset(&place, false, -300), -500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_truth_is_within), cmocka_unit_test(as_narrow_as_messages),
		cmocka_unit_test(any_order),           cmocka_unit_test(one_exchange),
		cmocka_unit_test(what_is_not_known),   cmocka_unit_test(placed),
		cmocka_unit_test(placed_with_drift),   cmocka_unit_test(by_time_of_day),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
