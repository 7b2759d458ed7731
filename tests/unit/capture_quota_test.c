// SPDX-License-Identifier: BSD-3-Clause
/* Quotas of processes, and of users where processes are not chosen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "observe/capture/quota.h"
#include "observe/process/bounds.h"

#define GONE 0x7f000000 /* and the next: no processes, which count as one user's */

static void of_a_process(void **state)
{
	struct quota quota = { .name = "things", .most = 2 };

	(void)state;
	for (int i = 0; i < 2 * BOUNDS_USER; i++) {
		assert_true(quota_take(&quota, GONE + i));
		assert_true(quota_take(&quota, GONE + i));
		assert_false(quota_take(&quota, GONE + i));
	}
	assert_int_equal(quota.left_out, 2 * BOUNDS_USER);
	quota_release(&quota);
}

static void of_a_user(void **state)
{
	struct quota quota = { .name = "things", .most = 2, .by_user = true };

	(void)state;
	for (int i = 0; i < BOUNDS_USER; i++) {
		assert_true(quota_take(&quota, GONE + i));
		assert_true(quota_take(&quota, GONE + i));
		assert_false(quota_take(&quota, GONE + i));
	}
	assert_false(quota_take(&quota, GONE + BOUNDS_USER));
	assert_true(quota_take(&quota, getpid()));
	quota_forget(&quota, GONE);
	assert_true(quota_take(&quota, GONE + BOUNDS_USER));
	assert_true(quota_take(&quota, GONE));
	assert_false(quota_take(&quota, GONE));
	quota_forget(&quota, GONE - 1);
	assert_int_equal(quota.left_out, BOUNDS_USER + 2);
	quota_release(&quota);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_process),
		cmocka_unit_test(of_a_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
