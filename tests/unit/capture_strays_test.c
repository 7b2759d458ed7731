// SPDX-License-Identifier: BSD-3-Clause
/* Mappings of processes that nobody knows yet: kept per process, up to a limit, until an exec. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"
#include "observe/capture/strays.h"

struct taken {
	pid_t tgid;
	uint64_t start, time;
	char path[16];
};

typedef VEC(struct taken) taken_list;

static void keep(void *arg, pid_t tgid, const struct mapping *mapping, uint64_t time)
{
	taken_list *list = arg;
	struct taken *taken = vec_add(list);

	*taken = (struct taken){ .tgid = tgid, .start = mapping->start, .time = time };
	strncpy(taken->path, mapping->path, sizeof(taken->path) - 1);
}

static void map_code(struct strays *strays, pid_t tgid, uint64_t start, uint64_t time)
{
	char path[] = "/x";
	const struct mapping mapping = { .start = start,
					 .end = start + 4096,
					 .executable = true,
					 .dev = 1,
					 .ino = 7,
					 .path = path };

	strays_add(strays, tgid, &mapping, time);
	path[1] = 'y'; /* it is valid during the call only */
}

static void test_one_process(void **state)
{
	struct strays strays = { 0 };
	taken_list list = { 0 };

	(void)state;
	strays_take(&strays, 5, keep, &list);
	assert_int_equal(list.len, 0);
	map_code(&strays, 5, 4096, 10);
	map_code(&strays, 6, 8192, 11);
	map_code(&strays, 5, 12288, 12);
	strays_take(&strays, 5, keep, &list);
	assert_int_equal(list.len, 2);
	assert_int_equal(list.data[0].start, 4096);
	assert_int_equal(list.data[1].start, 12288);
	assert_int_equal(list.data[1].time, 12);
	assert_string_equal(list.data[0].path, "/x");
	strays_take(&strays, 5, keep, &list);
	assert_int_equal(list.len, 2);
	vec_release(&list);
	strays_release(&strays);
}

static void test_exec(void **state)
{
	struct strays strays = { 0 };
	taken_list list = { 0 };

	(void)state;
	map_code(&strays, 5, 4096, 10);
	map_code(&strays, 5, 8192, 20);
	map_code(&strays, 6, 4096, 10);
	strays_exec(&strays, 5, 15);
	strays_take(&strays, 5, keep, &list);
	strays_take(&strays, 6, keep, &list);
	assert_int_equal(list.len, 2);
	assert_int_equal(list.data[0].start, 8192);
	assert_int_equal(list.data[1].tgid, 6);
	vec_release(&list);
	strays_release(&strays);
}

static void test_limit(void **state)
{
	struct strays strays = { 0 };
	taken_list list = { 0 };

	(void)state;
	map_code(&strays, 5, 4096, 1);
	map_code(&strays, 5, 8192, 2);
	for (uint64_t i = 1; i < STRAYS_MOST; i++)
		map_code(&strays, 6, 4096 * i, 3);
	strays_take(&strays, 5, keep, &list);
	assert_int_equal(list.len, 1);
	assert_int_equal(list.data[0].start, 8192);
	vec_release(&list);
	strays_release(&strays);
}

static void test_only_code_of_files(void **state)
{
	const struct mapping data = { .start = 1, .end = 2, .ino = 7, .path = "/x" };
	const struct mapping made = { .start = 1, .end = 2, .executable = true, .path = "" };
	struct strays strays = { 0 };
	taken_list list = { 0 };

	(void)state;
	strays_add(&strays, 5, &data, 1);
	strays_add(&strays, 5, &made, 1);
	strays_take(&strays, 5, keep, &list);
	assert_int_equal(list.len, 0);
	strays_release(&strays);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_process),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_only_code_of_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
