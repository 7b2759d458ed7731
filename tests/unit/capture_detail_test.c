// SPDX-License-Identifier: BSD-3-Clause
/* Slices with detail: as many as asked for, evenly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "observe/capture/detail.h"

static void as_many_as_asked(void **state)
{
	(void)state;
	for (unsigned int kept = 1; kept <= UB_SLICES; kept++) {
		uint64_t mask = detail_mask(kept);

		assert_int_equal(__builtin_popcountll(mask), kept);
		assert_true(mask & 1);
	}
	assert_true(detail_mask(UB_SLICES) == UINT64_MAX);
	assert_true(detail_mask(8) == 0x0101010101010101ull);
	assert_true(detail_mask(32) == 0x5555555555555555ull);
}

/* Any eight slices in a row have as many with detail as others, or one more. */
static void evenly(void **state)
{
	(void)state;
	for (unsigned int kept = 1; kept <= UB_SLICES; kept++) {
		uint64_t mask = detail_mask(kept);
		int least = 8, most = 0;

		for (int i = 0; i < UB_SLICES; i++) {
			uint64_t turned = i ? mask >> i | mask << (UB_SLICES - i) : mask;
			int count = __builtin_popcountll(turned & 0xff);

			least = count < least ? count : least;
			most = count > most ? count : most;
		}
		assert_true(most - least <= 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_as_asked),
		cmocka_unit_test(evenly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
