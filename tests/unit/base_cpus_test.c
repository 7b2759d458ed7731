// SPDX-License-Identifier: BSD-3-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/lists.h"

static void counts(void **state)
{
	(void)state;
	assert_int_equal(cpus_count("0"), 1);
	assert_int_equal(cpus_count("0-31,64-95"), 64);
	assert_int_equal(cpus_count("3,5,7-8"), 4);
}

static void what_is_no_list(void **state)
{
	static const char *const texts[] = {
		"",
		" ",
		"a",
		"0,",
		",0",
		"0-",
		"-1",
		"5-4",
		"0,0",
		"4,3",
		"0 1",
		"0-3:1/2",
		"0-2,2",
		"0--1",
		"0,,1",
		"0-9999999999",
		"99999999999999999999",
	};

	(void)state;
	assert_int_equal(cpus_count(NULL), -1);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_int_equal(cpus_count(texts[i]), -1);
		assert_int_equal(cpus_shared("0-3", texts[i]), -1);
		assert_int_equal(cpus_shared(texts[i], "0-3"), -1);
	}
}

static void shared(const char *a, const char *b, int64_t expected)
{
	assert_int_equal(cpus_shared(a, b), expected);
	assert_int_equal(cpus_shared(b, a), expected);
}

static void what_two_share(void **state)
{
	(void)state;
	shared("0-3", "0-3", 4);
	shared("0-3", "4-7", 0);
	shared("0-3,8-11", "2-9", 4);
	shared("0,2,4,6", "1,3,5,7", 0);
	shared("0,2,4,6", "0-3,6", 3);
	shared("0-31,64-95", "95-127", 1);
	shared("5", "0-63", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),
		cmocka_unit_test(what_is_no_list),
		cmocka_unit_test(what_two_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
