// SPDX-License-Identifier: BSD-3-Clause
/* Changes of memory between two times: the same answers as by going over all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "explain/memory/changes.h"

#define CHANGES 40000 /* in blocks of three levels */
#define QUESTIONS 3000
#define PLACES 100000

static bool by_definition(const struct memory_change *changes, uint64_t from, uint64_t until,
			  uint64_t start, uint64_t address)
{
	for (size_t i = 0; i < CHANGES; i++) {
		const struct memory_change *change = &changes[i];

		if (change->ts < from || change->ts > until)
			continue;
		if (change->size
			    ? address >= change->start && address < change->start + change->size
			    : change->start >= start && change->start <= address)
			return true;
	}
	return false;
}

static uint64_t below(uint64_t limit)
{
	return (uint64_t)random() % limit;
}

/* Sizes and times that make either answer likely; some changes have one time. */
static void as_by_definition(void **state)
{
	static const uint64_t lengths[] = { 1, 100, 10000, CHANGES };
	static struct memory_change all[CHANGES];
	struct memory_changes changes = { 0 };
	unsigned int answers[2] = { 0 };

	(void)state;
	srandom(1);
	for (size_t i = 0; i < CHANGES; i++) {
		all[i] = (struct memory_change){ below(CHANGES / 2), below(PLACES),
						 below(2) * (1 + below(30)) };
		changes_add(&changes, all[i].ts, all[i].start, all[i].size);
	}
	changes_ready(&changes);
	for (int i = 0; i < QUESTIONS; i++) {
		const uint64_t from = below(CHANGES / 2), until = from + below(lengths[i % 4]);
		const uint64_t start = below(PLACES), address = start + below(30);
		const bool answer = by_definition(all, from, until, start, address);

		assert_int_equal(changes_between(&changes, from, until, start, address), answer);
		answers[answer]++;
	}
	assert_true(answers[0] > 500 && answers[1] > 500);
	changes_release(&changes);
}

/* Memory at an unknown place may be any; an address was changed only where the place is known. */
static void places(void **state)
{
	struct memory_changes changes = { 0 };

	(void)state;
	changes_ready(&changes);
	assert_false(changes_at(&changes, 0x1000));
	assert_false(changes_between(&changes, 0, UINT64_MAX, 0, 0x1000));
	changes_add(&changes, 5, 0, UINT64_MAX);
	changes_add(&changes, 7, 0x1000, 0x10);
	changes_add(&changes, 9, 0x2000, 0);
	changes_add(&changes, 11, UINT64_MAX - 1, 0x10);
	changes_ready(&changes);
	assert_true(changes_between(&changes, 5, 5, 0x9000, 0x9000));
	assert_false(changes_between(&changes, 6, 10, 0x9000, 0x9000));
	assert_false(changes_between(&changes, 10, 12, 0x1000, 0x1000));
	assert_true(changes_at(&changes, 0x1000) && changes_at(&changes, 0x100f));
	assert_false(changes_at(&changes, 0xfff) || changes_at(&changes, 0x1010));
	assert_true(changes_at(&changes, 0x2000));
	assert_false(changes_at(&changes, 0x2001) || changes_at(&changes, 0));
	assert_true(changes_at(&changes, UINT64_MAX - 1));
	changes_release(&changes);
}

#define MANY 400000

/* As many questions as changes, over all of the time: what one by one would take minutes. */
static void many(void **state)
{
	struct memory_changes changes = { 0 };

	(void)state;
	for (uint64_t i = 0; i < MANY; i++)
		changes_add(&changes, i, 0x100000 + 64 * i, 32);
	changes_ready(&changes);
	for (uint64_t i = 0; i < MANY; i++) {
		const uint64_t made = 0x100000 + 64 * i;

		assert_true(changes_between(&changes, 0, MANY, made, made + 31));
		assert_false(changes_between(&changes, 0, MANY, made + 32, made + 32));
	}
	changes_release(&changes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_by_definition),
		cmocka_unit_test(places),
		cmocka_unit_test(many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
