// SPDX-License-Identifier: BSD-3-Clause
/* Tables of reasons: a count stands behind its own reason, or behind none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "explain/match/match.h"

static void more_reasons_than_rows(void **state)
{
	static char names[FACT_MAX_REASONS + 6][16];
	struct fact_reason reasons[FACT_MAX_REASONS] = { 0 };
	int own = FACT_MAX_REASONS - 1;

	(void)state;
	for (int i = 0; i < FACT_MAX_REASONS + 6; i++)
		snprintf(names[i], sizeof(names[i]), "reason %d", i);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < FACT_MAX_REASONS + 6; i++)
			reason_add(reasons, names[i], 100 + i);
	for (int i = 0; i < own; i++) {
		assert_ptr_equal(reasons[i].reason, names[i]);
		assert_int_equal(reasons[i].count, 2 * (100 + i));
	}
	assert_string_equal(reasons[own].reason, "other reasons");
	/* seven reasons, 123 to 129, twice */
	assert_int_equal(reasons[own].count, 2 * 7 * 126);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(more_reasons_than_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
