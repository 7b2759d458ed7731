// SPDX-License-Identifier: BSD-3-Clause
/* When windows of a duty cycle are due: on all hosts at one time, whatever their clocks count from.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "observe/capture/windows.h"

#define MS 1000000ull
#define S (1000 * MS)

static void the_second_is_on_the_grid(void **state)
{
	struct windows windows = { .length = 300 * MS, .period = S };

	(void)state;
	/* the wall clock shows 100.25 s; a whole period is left between */
	assert_int_equal(windows_due(&windows, 250 * MS, 100 * S), 2 * S);
	/* two hosts whose clocks count from other times, at one instant */
	assert_int_equal(windows_due(&windows, 7 * S, 93 * S + 250 * MS), 8 * S + 750 * MS);
	/* at a multiple already: the next one */
	assert_int_equal(windows_due(&windows, 3 * S, 100 * S), 4 * S);
}

static void one_that_came_late_moves_none(void **state)
{
	struct windows windows = { .length = 300 * MS, .period = S, .count = 1, .due = 5 * S };

	(void)state;
	assert_int_equal(windows_due(&windows, 5 * S, 100 * S), 6 * S);
	assert_int_equal(windows_due(&windows, 5 * S + 400 * MS, 100 * S), 6 * S);
	/* so late that it ends after the next was due */
	assert_int_equal(windows_due(&windows, 5 * S + 700 * MS, 100 * S), 7 * S);
	assert_int_equal(windows_due(&windows, 9 * S + 100 * MS, 100 * S), 10 * S);
}

static void a_clock_that_is_set(void **state)
{
	struct windows windows = { .length = 300 * MS, .period = S, .count = 1, .due = 5 * S };

	(void)state;
	/* by less than half a period, either way: neither sooner than that nor one left out */
	assert_int_equal(windows_due(&windows, 5 * S, 100 * S + 400 * MS), 5 * S + 600 * MS);
	assert_int_equal(windows_due(&windows, 5 * S, 100 * S - 400 * MS), 6 * S + 400 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_second_is_on_the_grid),
		cmocka_unit_test(one_that_came_late_moves_none),
		cmocka_unit_test(a_clock_that_is_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
