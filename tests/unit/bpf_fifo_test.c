// SPDX-License-Identifier: BSD-3-Clause
/* When positions are read: bpf/fifo.bpf.h. */
#include "bpf_host.h"

#include "fifo.bpf.h"

#define CALM (100ull * FIFO_SLICE + 2 * FIFO_BURST) /* outside of the bursts by the clock */

static struct turn turn;

/* A task that has just had a burst of its own, and has saved nothing. */
static int begin(void **state)
{
	(void)state;
	turn = (struct turn){ .burst = CALM - FIFO_BURST, .last = CALM };
	fifo_until = 0;
	detail_slices = ~0ull;
	return 0;
}

/* How many of n messages have their position read, one each so many ns. */
static int reads(__u64 from, __u64 each, int n)
{
	int count = 0;

	for (int i = 0; i < n; i++)
		count += fifo_due(&turn, from + i * each);
	return count;
}

static void frequent_messages_in_turn(void **state)
{
	(void)state;
	assert_int_equal(reads(CALM + 100, 100, 1000), 100000 / FIFO_PRICE);
}

static void bursts_by_the_clock(void **state)
{
	(void)state;
	turn.burst = 101ull * FIFO_SLICE - FIFO_BURST;
	turn.last = 101ull * FIFO_SLICE;
	assert_int_equal(reads(101ull * FIFO_SLICE + 100, 100, 1000), 1000);
}

static void rare_messages_always(void **state)
{
	(void)state;
	assert_int_equal(reads(CALM + FIFO_PRICE, FIFO_PRICE, 300), 300);
}

/* 64 at once, after a time in which as many could have come one by one. */
static void a_crowd_after_a_pause(void **state)
{
	(void)state;
	assert_int_equal(reads(CALM + 64ull * FIFO_PRICE, 10, 64), 64);
	assert_int_equal(reads(CALM + 64ull * FIFO_PRICE + 640, 10, 64), 0);
}

static void no_more_is_saved_than_for_a_slice(void **state)
{
	__u64 late = CALM + 1000ull * FIFO_SLICE;

	(void)state;
	turn.burst = late - 2 * FIFO_BURST;
	assert_int_equal(reads(late, 1, 1000), FIFO_SAVED / FIFO_PRICE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(frequent_messages_in_turn, begin),
		cmocka_unit_test_setup(bursts_by_the_clock, begin),
		cmocka_unit_test_setup(rare_messages_always, begin),
		cmocka_unit_test_setup(a_crowd_after_a_pause, begin),
		cmocka_unit_test_setup(no_more_is_saved_than_for_a_slice, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
