// SPDX-License-Identifier: BSD-3-Clause
/* Live ranges of an address space: against a model that has one word for every byte, and many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "explain/memory/ranges.h"

static int values[8];

static void *value(unsigned int i)
{
	return &values[i % 8];
}

static void by_address(void **state)
{
	struct ranges ranges = { 0 };

	(void)state;
	assert_null(ranges_find(&ranges, 0x1000));
	ranges_insert(&ranges, 0x1000, 0x100, value(1));
	ranges_insert(&ranges, 0x1100, 1, value(2));
	ranges_insert(&ranges, UINT64_MAX - 1, 100, value(3)); /* beyond the last address */
	assert_null(ranges_find(&ranges, 0xfff));
	assert_ptr_equal(ranges_find(&ranges, 0x1000)->value, value(1));
	assert_ptr_equal(ranges_find(&ranges, 0x10ff)->value, value(1));
	assert_ptr_equal(ranges_find(&ranges, 0x1100)->value, value(2));
	assert_null(ranges_find(&ranges, 0x1101));
	assert_ptr_equal(ranges_find(&ranges, UINT64_MAX)->value, value(3));
	assert_false(ranges_remove(&ranges, 0x1001));
	assert_true(ranges_remove(&ranges, 0x1000));
	assert_false(ranges_remove(&ranges, 0x1000));
	assert_null(ranges_find(&ranges, 0x1050));
	assert_int_equal(ranges.count, 2);
	assert_int_equal(ranges.replaced, 0);
	ranges_clear(&ranges);
	assert_int_equal(ranges.count, 0);
	assert_null(ranges_find(&ranges, 0x1100));
}

/* A range of a size that was not told reaches to the next one. */
static void open_ended(void **state)
{
	struct ranges ranges = { 0 };

	(void)state;
	ranges_insert(&ranges, 0x5000, 0, value(1));
	assert_null(ranges_find(&ranges, 0x4fff));
	assert_ptr_equal(ranges_find(&ranges, 0x5000)->value, value(1));
	assert_ptr_equal(ranges_find(&ranges, UINT64_MAX)->value, value(1));
	ranges_insert(&ranges, 0x6000, 0x10, value(2));
	assert_int_equal(ranges.replaced, 0);
	assert_ptr_equal(ranges_find(&ranges, 0x5fff)->value, value(1));
	assert_null(ranges_find(&ranges, 0x6010));
	ranges_insert(&ranges, 0x6008, 0, value(3)); /* inside: the older one is over */
	assert_int_equal(ranges.replaced, 1);
	assert_ptr_equal(ranges_find(&ranges, 0x6001)->value, value(1));
	assert_ptr_equal(ranges_find(&ranges, 0x7000)->value, value(3));
	assert_int_equal(ranges_remove_within(&ranges, 0x5000, 0), 0);
	assert_int_equal(ranges_remove_within(&ranges, 0x5001, 0x1000), 0);
	assert_int_equal(ranges_remove_within(&ranges, 0x5000, 0x2000), 2);
	assert_null(ranges_find(&ranges, 0x5000));
	assert_int_equal(ranges.open, 0);
	ranges_clear(&ranges);
}

static void replaced(void **state)
{
	struct ranges ranges = { 0 };

	(void)state;
	for (unsigned int i = 0; i < 7; i++)
		ranges_insert(&ranges, i * 0x10, 0x10, value(i));
	ranges_insert(&ranges, 0x18, 0x20, value(7)); /* of 1, 2 and 3 */
	assert_int_equal(ranges.replaced, 3);
	assert_int_equal(ranges.count, 5);
	assert_null(ranges_find(&ranges, 0x17));
	assert_ptr_equal(ranges_find(&ranges, 0x20)->value, value(7));
	assert_null(ranges_find(&ranges, 0x38));
	assert_ptr_equal(ranges_find(&ranges, 0x40)->value, value(4));
	ranges_clear(&ranges);
}

static bool has_value(const void *arg, const struct range *range)
{
	return range->value == arg;
}

static void pointed_out(void **state)
{
	struct ranges ranges = { 0 };

	(void)state;
	for (unsigned int i = 0; i < 1000; i++)
		ranges_insert(&ranges, 0x1000 + i * 0x10, i % 5 ? 0x10 : 0, value(i));
	assert_int_equal(ranges_remove_where(&ranges, has_value, value(3)), 125);
	assert_int_equal(ranges_remove_where(&ranges, has_value, value(3)), 0);
	assert_int_equal(ranges.count, 875);
	assert_int_equal(ranges.open, 200 - 25);
	assert_null(ranges_find(&ranges, 0x1000 + 19 * 0x10));
	assert_ptr_equal(ranges_find(&ranges, 0x1000 + 12 * 0x10)->value, value(12));
	for (unsigned int i = 0; i < 8; i++)
		ranges_remove_where(&ranges, has_value, value(i));
	assert_int_equal(ranges.count, 0);
	assert_int_equal(ranges.leaves.len, 0);
	ranges_clear(&ranges);
}

/* ---- against a model: ranges in no order, looked through one by one ---- */

#define SPACE 2048
#define MAX_LIVE SPACE

struct model {
	struct {
		uint64_t start, size;
		void *value;
	} live[MAX_LIVE];
	size_t count;
	uint64_t replaced, ended;
};

static uint64_t reach(uint64_t size)
{
	return size ? size : 1;
}

static size_t model_end(struct model *model, uint64_t start, uint64_t size)
{
	size_t left = 0, before = model->count;

	for (size_t i = 0; i < before; i++)
		if (model->live[i].start >= start + size ||
		    start >= model->live[i].start + reach(model->live[i].size))
			model->live[left++] = model->live[i];
	model->count = left;
	model->ended += before - left;
	return before - left;
}

static void model_insert(struct model *model, uint64_t start, uint64_t size, void *worth)
{
	model->replaced += model_end(model, start, reach(size));
	model->live[model->count].start = start;
	model->live[model->count].size = size;
	model->live[model->count++].value = worth;
}

static bool model_remove(struct model *model, uint64_t start)
{
	for (size_t i = 0; i < model->count; i++)
		if (model->live[i].start == start)
			return model_end(model, start, 1);
	return false;
}

/* The last one that begins no later, if it reaches that far. */
static void *model_find(const struct model *model, uint64_t address)
{
	size_t best = MAX_LIVE;

	for (size_t i = 0; i < model->count; i++)
		if (model->live[i].start <= address &&
		    (best == MAX_LIVE || model->live[i].start > model->live[best].start))
			best = i;
	if (best == MAX_LIVE ||
	    (model->live[best].size && address - model->live[best].start >= model->live[best].size))
		return NULL;
	return model->live[best].value;
}

static void count_end(void *arg, const struct range *range)
{
	(void)range;
	++*(uint64_t *)arg;
}

static void step(struct ranges *ranges, struct model *model, unsigned int i)
{
	uint64_t start = rand() % SPACE;
	uint64_t size = rand() % 8 ? 1 + rand() % (rand() % 64 ? 3 : 300) : 0;

	switch (rand() % 8) {
	default:
		ranges_insert(ranges, start, size, value(i));
		model_insert(model, start, size, value(i));
		break;
	case 2:
		if (model->count)
			start = rand() % 4 ? model->live[rand() % model->count].start : start;
		assert_int_equal(ranges_remove(ranges, start), model_remove(model, start));
		break;
	case 3:
		size = rand() % 3 ? size : 0;
		assert_int_equal(ranges_remove_within(ranges, start, size),
				 size ? model_end(model, start, size) : 0);
		break;
	}
}

static void at_random(void **state)
{
	struct model model = { 0 };
	uint64_t ended = 0;
	size_t most = 0;
	struct ranges ranges = { .ended = count_end, .arg = &ended };

	(void)state;
	srand(4);
	for (unsigned int i = 0; i < 20000; i++) {
		step(&ranges, &model, i);
		assert_int_equal(ranges.count, model.count);
		if (most < ranges.leaves.len)
			most = ranges.leaves.len;
		for (int k = 0; k < 5; k++) {
			uint64_t address = rand() % (SPACE + 64);
			const struct range *range = ranges_find(&ranges, address);

			assert_ptr_equal(range ? range->value : NULL, model_find(&model, address));
		}
	}
	assert_true(model.replaced > 1000);
	assert_true(most > 5);
	assert_int_equal(ranges.replaced, model.replaced);
	assert_int_equal(ended, model.ended);
	ranges_clear(&ranges);
	assert_int_equal(ended, model.ended + model.count);
}

/* ---- many ---- */

#define MANY 1000000u
#define PIECE 0x200u /* what the driver aligns to */
#define LOOKUPS 2000000u

static uint32_t shuffled(uint32_t i)
{
	return (uint32_t)((uint64_t)i * 611953u % MANY); /* a prime: each once */
}

static uint64_t start_of(uint32_t i)
{
	return 0x7f0000000000u + (uint64_t)i * 2 * PIECE;
}

static void a_million(void **state)
{
	struct ranges ranges = { 0 };
	uint64_t found = 0, missed = 0, from;

	(void)state;
	for (uint32_t i = 0; i < MANY; i++)
		ranges_insert(&ranges, start_of(shuffled(i)), PIECE, value(shuffled(i)));
	assert_int_equal(ranges.count, MANY);
	assert_int_equal(ranges.replaced, 0);
	from = clock_ns(CLOCK_MONOTONIC);
	for (uint32_t i = 0; i < LOOKUPS; i++) {
		uint32_t which = shuffled(i * 7919u % MANY);
		uint64_t gap = i & 1 ? PIECE : 0;
		const struct range *range = ranges_find(&ranges, start_of(which) + i % PIECE + gap);

		found += range && range->value == value(which);
		missed += !range;
	}
	print_message("# %llu ns per look-up among %u ranges\n",
		      (unsigned long long)((clock_ns(CLOCK_MONOTONIC) - from) / LOOKUPS), MANY);
	assert_int_equal(found, LOOKUPS / 2);
	assert_int_equal(missed, LOOKUPS / 2);
	for (uint32_t i = 0; i < MANY; i += 2)
		assert_true(ranges_remove(&ranges, start_of(i)));
	assert_int_equal(ranges.count, MANY / 2);
	assert_null(ranges_find(&ranges, start_of(4)));
	assert_non_null(ranges_find(&ranges, start_of(5)));
	ranges_clear(&ranges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_address), cmocka_unit_test(open_ended),
		cmocka_unit_test(replaced),   cmocka_unit_test(pointed_out),
		cmocka_unit_test(at_random),  cmocka_unit_test(a_million),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
