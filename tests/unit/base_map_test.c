// SPDX-License-Identifier: BSD-3-Clause
/* A map keeps its entries while others come and go. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdint.h>

#include "base/map.h"

#define KEYS 500

/* Each key of either half of the map is there with its value, or is not there. */
static void has_all(const struct map *map, const uint64_t *values)
{
	size_t pos = 0, seen = 0, there = 0;
	struct map_slot *slot;

	for (uint64_t key = 0; key < KEYS; key++) {
		const uint64_t *value = map_find(map, key / 2, key % 2);

		assert_int_equal(!!value, !!values[key]);
		if (value)
			assert_int_equal(*value, values[key]);
		there += !!values[key];
	}
	while ((slot = map_next(map, &pos))) {
		assert_int_equal(slot->value, values[2 * slot->a + slot->b]);
		seen++;
	}
	assert_int_equal(seen, there);
	assert_int_equal(map->used, there);
}

static void keeps_what_it_has(void **state)
{
	static uint64_t values[KEYS];
	struct map map = { 0 };
	uint64_t dice = 1;

	(void)state;
	has_all(&map, values);
	for (uint64_t i = 1; i < 100000; i++) {
		uint64_t key, *value;
		bool fresh;

		dice = dice * 6364136223846793005u + 1442695040888963407u;
		key = (dice >> 33) % KEYS;
		if (dice >> 63) {
			assert_int_equal(map_remove(&map, key / 2, key % 2), !!values[key]);
			values[key] = 0;
		} else {
			value = map_insert(&map, key / 2, key % 2, &fresh);
			assert_int_equal(fresh, !values[key]);
			assert_int_equal(*value, values[key]);
			*value = values[key] = i;
		}
		if (i % 1000 == 0)
			has_all(&map, values);
	}
	map_release(&map);
}

static void removes_by_first_word(void **state)
{
	static uint64_t values[KEYS];
	struct map map = { 0 };

	(void)state;
	for (uint64_t key = 0; key < KEYS; key++)
		*map_insert(&map, key / 2, key % 2, NULL) = values[key] = key + 1;
	assert_int_equal(map_remove_all(&map, 7), 2);
	assert_int_equal(map_remove_all(&map, 7), 0);
	values[14] = values[15] = 0;
	has_all(&map, values);
	map_release(&map);
}

/* Addresses that come and go leave nothing behind that searches would have to pass. */
static void frees_slots(void **state)
{
	struct map map = { 0 };

	(void)state;
	for (uint64_t key = 1; key < 100000; key++) {
		*map_insert(&map, key, 0, NULL) = key;
		assert_true(map_remove(&map, key, 0));
		assert_int_equal(map.filled, 0);
	}
	map_release(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_what_it_has),
		cmocka_unit_test(removes_by_first_word),
		cmocka_unit_test(frees_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
