// SPDX-License-Identifier: BSD-3-Clause
/* Files that code ran in go with the last process that had code there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "observe/capture/addresses.h"

#define PROGRAMS 1000
#define SHARED 7 /* inode of a library that all map */
#define LONG_AGO 1 /* ns */

static void map_at(struct addresses *addresses, pid_t tgid, ino_t ino, uint64_t time)
{
	const struct mapping mapping = { .start = 4096 * ino,
					 .end = 4096 * (ino + 1),
					 .executable = true,
					 .dev = 1,
					 .ino = ino,
					 .path = "/x" };

	addresses_mapped(addresses, tgid, &mapping, time);
}

static void map_file(struct addresses *addresses, pid_t tgid, ino_t ino)
{
	map_at(addresses, tgid, ino, LONG_AGO);
}

/* A process that maps a file of its own and one that others map as well. */
static void run_program(struct addresses *addresses, pid_t tgid)
{
	map_file(addresses, tgid, 1000 + (ino_t)tgid);
	map_file(addresses, tgid, SHARED);
	addresses->processes.data[addresses->processes.len - 1].since = 0;
}

static void test_short_programs(void **state)
{
	struct addresses addresses;

	(void)state;
	addresses_init(&addresses, NULL);
	for (pid_t tgid = 1; tgid <= PROGRAMS; tgid++)
		run_program(&addresses, tgid);
	assert_int_equal(addresses.files.all.len, PROGRAMS + 1);
	/* all but one end */
	for (pid_t tgid = 2; tgid <= PROGRAMS; tgid++)
		addresses_ended(&addresses, tgid, LONG_AGO);
	addresses_sweep(&addresses);
	assert_int_equal(addresses.files.all.len, PROGRAMS + 1);
	addresses_apply(&addresses);
	addresses_sweep(&addresses);
	assert_int_equal(addresses.processes.len, 1);
	assert_int_equal(addresses.files.all.len, 2);
	assert_int_equal(addresses.files.known.used, 2);
	addresses_ended(&addresses, 1, LONG_AGO);
	addresses_apply(&addresses);
	addresses_sweep(&addresses);
	assert_int_equal(addresses.files.all.len, 0);
	addresses_release(&addresses);
}

static void exec_record(struct addresses *addresses, uint64_t ts)
{
	const struct ub_task task = { .h = { .ts = ts, .tgid = 7, .kind = UB_TASK },
				      .what = UB_EXEC };

	addresses_record(addresses, &task.h);
}

/* `env PROGRAM`: both execs are heard before the first one's record. A program is mapped before it.
 */
static void test_two_execs(void **state)
{
	struct addresses addresses;

	(void)state;
	addresses_init(&addresses, NULL);
	map_at(&addresses, 7, 100, 5);
	addresses.processes.data[0].since = 0;
	addresses_exec(&addresses, 7, 10);
	map_at(&addresses, 7, 101, 11);
	addresses_exec(&addresses, 7, 20);
	map_at(&addresses, 7, 102, 21);
	exec_record(&addresses, 13);
	exec_record(&addresses, 23);
	assert_int_equal(addresses.processes.data[0].heard.len, 1);
	assert_int_equal(addresses.processes.data[0].heard.data[0].range.file->ino, 102);
	addresses_release(&addresses);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_programs),
		cmocka_unit_test(test_two_execs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
