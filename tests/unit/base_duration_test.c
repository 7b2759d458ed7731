// SPDX-License-Identifier: BSD-3-Clause
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"

static void lengths(void **state)
{
	static const struct {
		const char *text, *rest;
		uint64_t ns;
	} cases[] = {
		{ "1us", "", 1000 },
		{ "300ms", "", 300000000 },
		{ "1s", "", 1000000000 },
		{ "1.5s", "", 1500000000 },
		{ ".5s/2s", "/2s", 500000000 },
		{ "2min", "", 120000000000 },
		{ "2m", "", 120000000000 },
		{ "2m/1h", "/1h", 120000000000 },
		{ "24h", "", 86400000000000 },
		{ "0s/3s", "/3s", 0 },
		{ "0.1ms,", ",", 100000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *end = NULL;
		uint64_t ns = 7;

		assert_int_equal(duration_parse(cases[i].text, &end, &ns), 0);
		assert_int_equal(ns, cases[i].ns);
		assert_string_equal(end, cases[i].rest);
	}
}

static void no_lengths(void **state)
{
	static const char *const cases[] = { "",     "s",    "1",    "1 s",  "1S",  "1sec",
					     "1mi",  "-1",   "-1s",  " 1s",  "+1s", "1,5s",
					     "0x1s", "nans", "infs", "1e9s", "word" };
	const char *end;
	uint64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (duration_parse(cases[i], &end, &ns) != -EINVAL)
			fail_msg("'%s' is taken for %lu ns", cases[i], (unsigned long)ns);
	assert_int_equal(duration_parse("300000h", &end, &ns), -ERANGE);
}

static void seconds(void **state)
{
	static const struct {
		const char *text;
		double seconds;
	} cases[] = {
		{ "5", 5 },       { "5s", 5 },   { "0.5", 0.5 }, { ".5", .5 },      { "5.", 5 },
		{ "500ms", 0.5 }, { "2m", 120 }, { "1h", 3600 }, { "100us", 1e-4 },
	};
	static const char *const wrong[] = { "",
					     "s",
					     "5 s",
					     "5x",
					     "-5",
					     "5s5",
					     "1e3",
					     "0x5",
					     "5s,",
					     ".",
					     "00000000000000000000000000000000005" };
	double got;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(seconds_parse(cases[i].text, &got), 0);
		assert_true(got > cases[i].seconds - 1e-9 && got < cases[i].seconds + 1e-9);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (seconds_parse(wrong[i], &got) != -EINVAL)
			fail_msg("'%s' is taken for %g s", wrong[i], got);
	assert_int_equal(seconds_parse("300000h", &got), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths),
		cmocka_unit_test(no_lengths),
		cmocka_unit_test(seconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
