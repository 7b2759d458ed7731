// SPDX-License-Identifier: BSD-3-Clause
/* Times that a call waited: each ns counts once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/waits/internal.h"

static void counts_once(void **state)
{
	struct wait_spans spans = { 0 };

	(void)state;
	assert_int_equal(spans_add(&spans, (struct wait_span){ 10, 20 }), 10);
	assert_int_equal(spans_add(&spans, (struct wait_span){ 12, 18 }), 0);
	assert_int_equal(spans_add(&spans, (struct wait_span){ 15, 25 }), 5);
	assert_int_equal(spans_add(&spans, (struct wait_span){ 5, 30 }), 10);
	assert_int_equal(spans.list[0].from, 5);
	assert_int_equal(spans.list[0].to, 30);
	assert_int_equal(spans.list[1].to, 0);
}

static void in_order_and_apart(void **state)
{
	struct wait_spans spans = { 0 };

	(void)state;
	assert_int_equal(spans_add(&spans, (struct wait_span){ 50, 60 }), 10);
	assert_int_equal(spans_add(&spans, (struct wait_span){ 10, 20 }), 10);
	assert_int_equal(spans_add(&spans, (struct wait_span){ 30, 40 }), 10);
	assert_int_equal(spans.list[0].from, 10);
	assert_int_equal(spans.list[1].from, 30);
	assert_int_equal(spans.list[2].from, 50);
	assert_int_equal(spans_add(&spans, (struct wait_span){ 15, 55 }), 20);
	assert_int_equal(spans.list[0].to, 60);
}

/* With more separate ones than there is room for, a gap counts as told: never too much. */
static void closest_are_joined(void **state)
{
	struct wait_spans spans = { 0 };

	(void)state;
	for (uint64_t i = 0; i < SPANS; i++)
		spans_add(&spans, (struct wait_span){ 100 * i + 10, 100 * i + 20 + 80 * (i == 1) });
	assert_int_equal(spans_add(&spans, (struct wait_span){ 1000, 1001 }), 1);
	assert_int_equal(spans_add(&spans, (struct wait_span){ 110, 220 }), 0);
	assert_int_equal(spans.list[SPANS - 1].to, 1001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_once),
		cmocka_unit_test(in_order_and_apart),
		cmocka_unit_test(closest_are_joined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
