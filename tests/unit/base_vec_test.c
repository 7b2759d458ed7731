// SPDX-License-Identifier: BSD-3-Clause
/* A queue that is worked off in part: what had no turn comes first, then what has to wait. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/vec.h"

#define QUEUED 5

/* Of 0 to 4, the first turns were taken, and the odd ones of these wait. */
static void requeue(void **state)
{
	static const struct {
		size_t turns, len;
		int left[QUEUED];
	} cases[] = {
		{ 0, 5, { 0, 1, 2, 3, 4 } }, { 1, 4, { 1, 2, 3, 4 } }, { 2, 4, { 2, 3, 4, 1 } },
		{ 4, 3, { 4, 1, 3 } },       { 5, 2, { 1, 3 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		VEC(int) queue = { 0 }, later = { 0 };

		for (int j = 0; j < QUEUED; j++) {
			vec_push(&queue, j);
			if ((size_t)j < cases[i].turns && j % 2)
				vec_push(&later, j);
		}
		vec_requeue(&queue, cases[i].turns, &later);
		assert_int_equal(queue.len, cases[i].len);
		assert_memory_equal(queue.data, cases[i].left, queue.len * sizeof(*queue.data));
		assert_null(later.data);
		vec_release(&queue);
	}
}

static void requeue_nothing(void **state)
{
	VEC(int) queue = { 0 }, later = { 0 };

	(void)state;
	vec_requeue(&queue, 0, &later);
	assert_int_equal(queue.len, 0);
	assert_null(queue.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requeue),
		cmocka_unit_test(requeue_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
