// SPDX-License-Identifier: BSD-3-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "show/report/cube.h"
#include "show/report/internal.h"

static const struct cube_shape shape = {
	3,
	{
		{ "process", CUBE_PROCESS, NULL },
		{ "name", CUBE_STRING, "unknown" },
		{ "kind", CUBE_KIND, NULL },
	},
};

static const struct cube_shape by_name = { 1, { { "name", CUBE_STRING, "unknown" } } };

static uint64_t word(const char *text)
{
	return (uintptr_t)text;
}

static void add(struct cube *cube, int64_t process, const char *name, uint64_t bytes)
{
	struct cube_sums *sums =
		&cube_at(cube, (uint64_t[]){ process, word(name), KIND_DATA })->sums;

	sums->count++;
	sums->bytes += bytes;
}

static void many_rows(void **state)
{
	struct cube cube;

	(void)state;
	cube_init(&cube, &shape);
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 10007; i++)
			add(&cube, i, i % 2 ? "odd" : "even", i);
	assert_int_equal(cube.rows.len, 10007);
	for (int i = 0; i < 10007; i++) {
		assert_int_equal(cube.rows.data[i].sums.count, 3);
		assert_int_equal(cube.rows.data[i].sums.bytes, 3 * i);
	}
	assert_null(cube_find(&cube, (uint64_t[]){ 10007, 0, 0 }));
	cube_release(&cube);
}

static void order_is_by_text(void **state)
{
	struct cube cube;
	const struct cube_row **rows;

	(void)state;
	cube_init(&cube, &shape);
	add(&cube, 1, "b", 5);
	add(&cube, 1, "a", 3);
	add(&cube, -1, "c", 5);
	add(&cube, 1, NULL, 7);
	rows = cube_sorted(&cube, CUBE_BY_KEYS);
	assert_int_equal((int64_t)rows[0]->key[0], -1);
	assert_null((const char *)(uintptr_t)rows[1]->key[1]);
	assert_string_equal((const char *)(uintptr_t)rows[2]->key[1], "a");
	assert_string_equal((const char *)(uintptr_t)rows[3]->key[1], "b");
	cube_sort(&cube, rows, 4, CUBE_BY_BYTES);
	assert_int_equal(rows[0]->sums.bytes, 7);
	assert_int_equal((int64_t)rows[1]->key[0], -1);
	assert_int_equal(rows[3]->sums.bytes, 3);
	free(rows);
	cube_release(&cube);
}

static void prefixes(void **state)
{
	struct cube cube;
	const struct cube_row **rows, **found;
	size_t count;

	(void)state;
	cube_init(&cube, &shape);
	for (int i = 0; i < 11; i++) {
		add(&cube, i, "a", i);
		add(&cube, i, "b", i);
	}
	rows = cube_sorted(&cube, CUBE_BY_KEYS);
	found = cube_prefix(&cube, rows, (uint64_t[]){ 7 }, 1, &count);
	assert_int_equal(count, 2);
	assert_int_equal(found[0]->key[0], 7);
	assert_int_equal(found[1]->key[0], 7);
	cube_prefix(&cube, rows, (uint64_t[]){ 11 }, 1, &count);
	assert_int_equal(count, 0);
	free(rows);
	cube_release(&cube);
}

static void equal_texts_join(void **state)
{
	char one[] = "same", two[] = "same";
	struct cube cube, names;

	(void)state;
	cube_init(&cube, &shape);
	add(&cube, 1, one, 3);
	add(&cube, 1, two, 5);
	add(&cube, 2, two, 7);
	assert_int_equal(cube.rows.len, 3);
	cube_join(&cube);
	assert_int_equal(cube.rows.len, 2);
	assert_int_equal(cube.rows.data[0].sums.bytes, 8);
	cube_init(&names, &by_name);
	cube_rollup(&names, &cube);
	assert_int_equal(names.rows.len, 1);
	assert_int_equal(names.rows.data[0].sums.bytes, 15);
	assert_int_equal(names.rows.data[0].sums.count, 3);
	cube_release(&names);
	cube_release(&cube);
}

/* Facts that come after a join find their columns as those before it. */
static void join_keeps_columns(void **state)
{
	struct cube cube;

	(void)state;
	cube_init(&cube, &report_calls_shape);
	cube_bind(&cube, FACT_CALL);
	cube_join(&cube);
	assert_int_equal(report_calls_shape.count, 2);
	assert_int_equal(cube.from[0].offset, offsetof(struct fact_call, process));
	assert_false(cube.from[0].pointer);
	assert_int_equal(cube.from[1].offset, offsetof(struct fact_call, function));
	assert_true(cube.from[1].pointer);
	cube_release(&cube);
}

static void times(void **state)
{
	struct cube_sums sums = { 0 }, sum = { 0 };

	(void)state;
	cube_sums_time(&sums, 100, 0, TIME_EXACT, UINT64_MAX);
	cube_sums_time(&sums, 100, 90, TIME_EXACT, UINT64_MAX);
	cube_sums_time(&sums, 100, 200, TIME_UNKNOWN, UINT64_MAX);
	assert_int_equal(sums.timed, 0);
	cube_sums_time(&sums, 100, 107, TIME_EXACT, UINT64_MAX);
	cube_sums_time(&sums, 100, 103, TIME_UPPER_BOUND, UINT64_MAX);
	cube_sums_add(&sum, &sums);
	assert_int_equal(sum.timed, 2);
	assert_int_equal(sum.time_min, 3);
	assert_int_equal(sum.time_max, 7);
	assert_int_equal(sum.time_sum, 10);
	assert_int_equal(sum.precisions, 1u << TIME_EXACT | 1u << TIME_UPPER_BOUND);
}

static void slowest_are_kept(void **state)
{
	struct slowest slowest = { .len = 0 };

	(void)state;
	for (uint64_t i = 0; i < 1009; i++)
		slowest_offer(&slowest, &(struct fact_transfer){ .process = i,
								 .start = 1000,
								 .end = 1000 + i * 7 % 101,
								 .end_precision = TIME_EXACT });
	slowest_offer(&slowest, &(struct fact_transfer){ .start = 1000, .end = 0 });
	assert_int_equal(slowest.len, SLOWEST_MAX);
	for (size_t i = 1; i < slowest.len; i++) {
		const struct fact_transfer *a = &slowest.transfers[i - 1], *b = a + 1;

		assert_true(slowest_time(a) >= slowest_time(b));
		if (slowest_time(a) == slowest_time(b))
			assert_true(a->process < b->process);
	}
	assert_int_equal(slowest_time(&slowest.transfers[0]), 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_rows),          cmocka_unit_test(order_is_by_text),
		cmocka_unit_test(prefixes),           cmocka_unit_test(equal_texts_join),
		cmocka_unit_test(join_keeps_columns), cmocka_unit_test(times),
		cmocka_unit_test(slowest_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
