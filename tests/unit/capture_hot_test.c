// SPDX-License-Identifier: BSD-3-Clause
/* Groups of hot probes that come and go where some cannot be placed: their programs are none. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "observe/capture/probes.h"

#define SELF "/proc/self/exe"

static struct link_programs no_programs(void)
{
	struct link_programs programs;

	memset(&programs, -1, sizeof(programs));
	return programs;
}

static struct link_probe probe(unsigned int kind, uint64_t offset)
{
	return (struct link_probe){ .kind = kind, .offset = offset };
}

static void a_group_that_cannot_be_placed_is_away(void **state)
{
	const struct link_programs programs = no_programs();
	struct link_probe op = probe(UB_OP, 64);
	struct hot hot;
	size_t refused = 7;

	(void)state;
	hot_init(&hot, LINK_MULTI, &programs, true);
	assert_int_equal(hot_place(&hot, 0, &refused), 0);
	assert_int_equal(hot_add(&hot, SELF, &op, 1, &refused), 0);
	assert_int_equal(refused, 0);
	for (int attempt = 0; attempt < 2; attempt++) {
		assert_int_equal(hot_place(&hot, HOT_ALL, &refused), -EBADF);
		assert_int_equal(refused, 0);
		/* those that have no probe in any file are in place */
		assert_int_equal(hot.placed, HOT_ALL & ~(1u << UB_GROUP_UCP));
	}
	assert_int_equal(hot_place(&hot, 1u << UB_GROUP_MPI, &refused), 0);
	assert_int_equal(hot.placed, 1u << UB_GROUP_MPI);
	hot_release(&hot);
}

/* The kernel refuses a file that is no program at each probe. */
static void refused_probes_are_counted_once(void **state)
{
	const struct link_probe calls[] = { probe(UB_CALL, 64), probe(UB_CALL, 128) };
	struct link_programs programs = no_programs();
	struct hot hot;
	size_t refused = 7;
	int file = open(SELF, O_RDONLY), err;

	(void)state;
	assert_true(file >= 0);
	programs.entry_fd[UB_CALL] = file;
	hot_init(&hot, LINK_MULTI, &programs, true);
	assert_int_equal(hot_place(&hot, 0, &refused), 0);
	assert_int_equal(hot_add(&hot, SELF, calls, 2, &refused), 0);
	err = hot_place(&hot, HOT_ALL, &refused);
	if (!err) {
		assert_int_equal(refused, 2);
		assert_int_equal(hot.placed, HOT_ALL);
		assert_int_equal(hot_place(&hot, 0, &refused), 0);
		assert_int_equal(hot_place(&hot, HOT_ALL, &refused), 0);
		assert_int_equal(refused, 0);
	}
	hot_release(&hot);
	close(file);
	if (err)
		skip(); /* not allowed to use BPF */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_group_that_cannot_be_placed_is_away),
		cmocka_unit_test(refused_probes_are_counted_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
