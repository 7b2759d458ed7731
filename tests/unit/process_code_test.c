// SPDX-License-Identifier: BSD-3-Clause
/* Files that code runs in: what nobody uses any more goes, numbers do not come again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "observe/process/code.h"

#define FILES 1000

static void test_keep(void **state)
{
	struct code_files files = { 0 };
	struct map used = { 0 };
	struct code_file *kept, *fresh;

	(void)state;
	for (ino_t ino = 1; ino <= FILES; ino++)
		code_files_open(&files, 1, ino, "/x", "/nonexistent");
	kept = code_files_open(&files, 1, 7, "/x", "/nonexistent");
	assert_int_equal(files.all.len, FILES);
	map_insert(&used, (uint64_t)kept->number, 0, NULL);
	code_files_keep(&files, &used);
	assert_int_equal(files.all.len, 1);
	assert_int_equal(files.known.used, 1);
	assert_ptr_equal(code_files_open(&files, 1, 7, "/x", "/nonexistent"), kept);
	/* one that was freed is another file now */
	fresh = code_files_open(&files, 1, 8, "/y", "/nonexistent");
	assert_int_equal(fresh->number, FILES);
	assert_string_equal(fresh->path, "/y");
	map_release(&used);
	code_files_release(&files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
