// SPDX-License-Identifier: BSD-3-Clause
/* Quantiles of a histogram are those of its values, as near as its header says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "show/diff/number.h"

#define VALUES 10001

static uint64_t seed = 88172645463325252;

static uint64_t random_word(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static int by_value(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static void assert_near(uint64_t found, uint64_t true_value)
{
	uint64_t off = found > true_value ? found - true_value : true_value - found;

	if (off > true_value / 62)
		fail_msg("%lu is not near %lu", (unsigned long)found, (unsigned long)true_value);
}

static void quantiles_are_near(void **state)
{
	static uint64_t values[VALUES];

	(void)state;
	for (unsigned int bits = 1; bits <= 64; bits += 3) {
		struct spread *spread = calloc(1, sizeof(*spread));
		struct diff_number number;

		for (size_t i = 0; i < VALUES; i++) {
			values[i] = random_word() >> (64 - bits);
			spread_add(spread, values[i]);
		}
		qsort(values, VALUES, sizeof(*values), by_value);
		number = spread_number(spread);
		assert_true(number.known);
		assert_near(number.median, values[VALUES / 2]);
		assert_near(number.low, values[VALUES / 10]);
		assert_near(number.high, values[VALUES * 9 / 10]);
		free(spread);
	}
}

static void small_values_are_exact(void **state)
{
	struct spread *spread = calloc(1, sizeof(*spread));
	struct diff_number number;

	(void)state;
	for (uint64_t value = 1; value <= 10; value++)
		spread_add(spread, value);
	number = spread_number(spread);
	assert_int_equal(number.median, 5);
	assert_int_equal(number.low, 1);
	assert_int_equal(number.high, 9);
	free(spread);
}

static void joined_is_as_if_added(void **state)
{
	struct spread *a = calloc(1, sizeof(*a)), *b = calloc(1, sizeof(*b));
	struct spread *all = calloc(1, sizeof(*all));

	(void)state;
	for (size_t i = 0; i < VALUES; i++) {
		uint64_t value = random_word() >> 40;

		spread_add(i % 3 ? a : b, value);
		spread_add(all, value);
	}
	spread_join(a, b);
	assert_memory_equal(a, all, sizeof(*a));
	free(a);
	free(b);
	free(all);
}

static void nothing_is_not_known(void **state)
{
	static const struct spread none;

	(void)state;
	assert_false(spread_number(&none).known);
	assert_false(number_of(NULL, 0).known);
}

static void middle_and_ends_of_few(void **state)
{
	uint64_t odd[] = { 30, 10, 20 }, even[] = { 4, UINT64_MAX, 2, UINT64_MAX };
	struct diff_number a = number_of(odd, 3), b = number_of(even, 4);

	(void)state;
	assert_int_equal(a.median, 20);
	assert_int_equal(a.low, 10);
	assert_int_equal(a.high, 30);
	assert_true(b.median == 4 + (UINT64_MAX - 4) / 2);
	assert_false(numbers_apart(&a, &b));
	assert_true(numbers_apart(&a, &(struct diff_number){ true, 31, 31, 31 }));
	assert_true(numbers_apart(&(struct diff_number){ true, 5, 5, 9 }, &a));
	assert_false(numbers_apart(&(struct diff_number){ true, 5, 5, 10 }, &a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_near),     cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(joined_is_as_if_added),  cmocka_unit_test(nothing_is_not_known),
		cmocka_unit_test(middle_and_ends_of_few),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
