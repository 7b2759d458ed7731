// SPDX-License-Identifier: BSD-3-Clause
/* More records than fit come back in order, each once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "show/export/spans.h"
#include "show/export/sorter.h"

struct record {
	uint64_t key, number;
	char rest[48];
};

static int by_key(const void *left, const void *right)
{
	const struct record *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static void sort(uint64_t count, uint64_t step)
{
	struct sorter *sorter = sorter_new(sizeof(struct record), by_key);
	struct record record = { 0 };
	const void *got;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < count; i++) {
		record.key = i * step % count / 2;
		record.number = i;
		record.rest[47] = (char)i;
		assert_int_equal(sorter_add(sorter, &record), 0);
	}
	assert_int_equal(sorter_finish(sorter), 0);
	for (uint64_t i = 0; i < count; i++) {
		struct record last = record;

		assert_int_equal(sorter_next(sorter, &got), 1);
		record = *(const struct record *)got;
		assert_true(!i || by_key(&last, &record) < 0);
		assert_int_equal(record.rest[47], (char)record.number);
		assert_int_equal(record.key, record.number * step % count / 2);
		sum += record.number;
	}
	assert_int_equal(sorter_next(sorter, &got), 0);
	assert_int_equal(sum, count * (count - 1) / 2);
	sorter_free(sorter);
}

static void in_memory(void **state)
{
	(void)state;
	sort(1000, 7);
	sort(1, 1);
}

/* Three runs and a bit: each is 24 MiB. */
static void in_a_file(void **state)
{
	(void)state;
	sort(1300001, 700001);
}

static void nothing(void **state)
{
	struct sorter *sorter = sorter_new(8, by_key);
	const void *record;

	(void)state;
	assert_int_equal(sorter_finish(sorter), 0);
	assert_int_equal(sorter_next(sorter, &record), 0);
	sorter_free(sorter);
}

static void no_place_for_the_file(void **state)
{
	struct sorter *sorter = sorter_new(1 << 20, by_key);
	char *record = calloc(1, 1 << 20);
	int err = 0;

	(void)state;
	setenv("TMPDIR", "/nonexistent", 1);
	for (int i = 0; i < 30 && !err; i++)
		err = sorter_add(sorter, record);
	assert_true(err < 0);
	unsetenv("TMPDIR");
	sorter_free(sorter);
	free(record);
}

/* The first lane that is free, and as few of them as possible. */
static void lanes(void **state)
{
	struct lanes l = { 0 };

	(void)state;
	assert_int_equal(lanes_take(&l, 10, 50), 0);
	assert_int_equal(lanes_take(&l, 10, 20), 1);
	assert_int_equal(lanes_take(&l, 12, 13), 2);
	assert_int_equal(lanes_take(&l, 13, 60), 2);
	assert_int_equal(lanes_take(&l, 20, 0), 1); /* no end: over at once */
	assert_int_equal(lanes_take(&l, 20, 70), 1);
	assert_int_equal(lanes_take(&l, 49, 51), 3);
	assert_int_equal(lanes_take(&l, 50, 51), 0);
	lanes_clear(&l);
	assert_int_equal(lanes_take(&l, 1, 100), 0);
	for (size_t i = 1; i < 100; i++)
		assert_int_equal(lanes_take(&l, i, 100), i);
	assert_int_equal(lanes_take(&l, 100, 101), 0);
	lanes_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_memory), cmocka_unit_test(in_a_file),
		cmocka_unit_test(nothing),   cmocka_unit_test(no_place_for_the_file),
		cmocka_unit_test(lanes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
