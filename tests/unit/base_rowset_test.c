// SPDX-License-Identifier: BSD-3-Clause
/* Row sets: rows are found by their key, however they came into the array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rowset.h"
#include "base/vec.h"

#define KEY sizeof(uint64_t)
#define MANY 5000u

struct row {
	uint64_t key, sum;
};

typedef VEC(struct row) rows;

static void keys_are_found(rows *all, struct rowset *set)
{
	for (uint64_t key = 0; key < MANY; key++)
		assert_int_equal(rowset_find(set, ROWSET_ROWS(all, KEY), &key), key);
	assert_int_equal(rowset_find(set, ROWSET_ROWS(all, KEY), &(uint64_t){ MANY }), all->len);
}

static void added_one_by_one(void **state)
{
	rows all = { 0 };
	struct rowset set = { 0 };

	(void)state;
	for (int round = 0; round < 2; round++)
		for (uint64_t key = 0; key < MANY; key++) {
			size_t at = rowset_add(&set, ROWSET_ROWS(&all, KEY), &key);

			assert_int_equal(at, key);
			if (at == all.len)
				vec_push(&all, ((struct row){ .key = key }));
		}
	assert_int_equal(all.len, MANY);
	keys_are_found(&all, &set);
	rowset_release(&set);
	vec_release(&all);
}

/* Rows that were read from a file are in the array before there is an index. */
static void indexed_afterwards(void **state)
{
	rows all = { 0 };
	struct rowset set = { 0 };

	(void)state;
	alarm(10);
	for (uint64_t key = 0; key < MANY; key++)
		vec_push(&all, ((struct row){ .key = key }));
	assert_int_equal(rowset_add(&set, ROWSET_ROWS(&all, KEY), &(uint64_t){ 7 }), 7);
	keys_are_found(&all, &set);
	alarm(0);
	rowset_release(&set);
	vec_release(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(added_one_by_one),
		cmocka_unit_test(indexed_afterwards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
