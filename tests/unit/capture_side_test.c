// SPDX-License-Identifier: BSD-3-Clause
/* Side records of names that are not UTF-8: arguments, paths, notes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "observe/capture/side.h"

/* Any file takes it: JSON that ends in a line end. */
static void is_written(json_t *record)
{
	char path[] = "/tmp/ucxbpf-side-XXXXXX";
	int fd = mkstemp(path);
	struct file_writer *writer;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(file_writer_open(&writer, path), 0);
	assert_int_equal(file_writer_side(writer, record), 0);
	assert_int_equal(file_writer_close(writer, NULL), 0);
	unlink(path);
	json_decref(record);
}

static void arguments(void **state)
{
	char app[] = "./app", latin[] = "caf\xe9", none[] = "\xff";
	char *const command[] = { app, latin, none, NULL };
	json_t *record = side_capture("uct", "run", command, false);
	json_t *words = json_object_get(record, "command");

	(void)state;
	assert_non_null(record);
	assert_int_equal(json_array_size(words), 3);
	assert_string_equal(json_string_value(json_array_get(words, 0)), "./app");
	assert_string_equal(json_string_value(json_array_get(words, 1)), "caf?");
	assert_string_equal(json_string_value(json_array_get(words, 2)), "?");
	is_written(record);
}

static void a_path(void **state)
{
	json_t *record = side_gap(17, "library", "/tmp/\xc3/libmpi.so", 5, 9);

	(void)state;
	assert_non_null(record);
	assert_string_equal(json_string_value(json_object_get(record, "path")), "/tmp/?/libmpi.so");
	is_written(record);
}

static void a_note(void **state)
{
	json_t *record = side_note("\x80 is no character");

	(void)state;
	assert_non_null(record);
	assert_string_equal(json_string_value(json_object_get(record, "text")),
			    "? is no character");
	is_written(record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments),
		cmocka_unit_test(a_path),
		cmocka_unit_test(a_note),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
