// SPDX-License-Identifier: BSD-3-Clause
/* Exit statuses: the tables in docs/exit-codes.md are those of the program. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/exit_codes.h"

struct row {
	int status;
	const char *name;
};

#define ROW(identifier, status, name) { identifier, name },

static const struct row tool[] = { UCXBPF_EXITS(ROW) };
static const struct row plugin[] = { UCXBPF_CHECK_EXITS(ROW) };

/* Reads the next table of the document; its last rows may be signals: "130, 143". */
static void expect_table(FILE *document, const struct row *rows, size_t count)
{
	char line[512], name[32];
	size_t found = 0;
	int status;

	while (fgets(line, sizeof(line), document) && strncmp(line, "| ---", 5) != 0)
		;
	while (fgets(line, sizeof(line), document) && line[0] == '|') {
		if (sscanf(line, "| %d | %31[^|]", &status, name) != 2)
			continue;
		name[strcspn(name, "|") - 1] = '\0';
		assert_true(found < count);
		assert_int_equal(status, rows[found].status);
		assert_string_equal(name, rows[found].name);
		found++;
	}
	assert_int_equal(found, count);
}

static void document_has_both_sets(void **state)
{
	FILE *document = fopen("docs/exit-codes.md", "re");

	(void)state;
	assert_non_null(document);
	expect_table(document, tool, sizeof(tool) / sizeof(tool[0]));
	expect_table(document, plugin, sizeof(plugin) / sizeof(plugin[0]));
	fclose(document);
}

static void status_of_a_command(void **state)
{
	(void)state;
	assert_int_equal(exit_usage("replay"), 2);
	assert_int_equal(exit_usage("sweep"), 4);
	assert_int_equal(exit_unwritten("replay", -ENOSPC), 9);
	assert_int_equal(exit_unwritten("export", -EDQUOT), 9);
	assert_int_equal(exit_unwritten("run", -EFBIG), 9);
	assert_int_equal(exit_unwritten("replay", -EIO), 1);
	assert_int_equal(exit_unwritten("check", -ENOSPC), 5);
	assert_int_equal(exit_failed("replay"), 1);
	assert_int_equal(exit_failed("check"), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(document_has_both_sets),
		cmocka_unit_test(status_of_a_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
