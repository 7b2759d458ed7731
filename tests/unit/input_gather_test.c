// SPDX-License-Identifier: BSD-3-Clause
/* Files of any kind, gathered for a judge. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <zstd.h>

#include "cmd/input/gather.h"
#include "site/policy/policy.h"

static int open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* Without the last so many bytes. */
static void write_compressed(const char *path, const char *text, size_t cut)
{
	char packed[512];
	size_t size = ZSTD_compress(packed, sizeof(packed), text, strlen(text), 1);
	FILE *out = fopen(path, "we");

	assert_false(ZSTD_isError(size));
	assert_non_null(out);
	assert_int_equal(fwrite(packed, 1, size - cut, out), size - cut);
	assert_int_equal(fclose(out), 0);
}

/* A part of a sweep that cannot be used leaves nothing open. */
static void parts_that_are_refused(void **state)
{
	static const struct {
		size_t cut;
		int err;
		bool broken;
	} parts[] = {
		{ 0, -EIO, false }, /* of another version */
		{ 4, 0, true }, /* damaged: left out */
	};
	char folder[] = "/tmp/gather-XXXXXX", path[64];
	const char *const paths[] = { path };
	struct policy *policy = policy_default();

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/parts", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/parts/1.evidence", folder);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct gathered gathered;
		int before = open_files();

		write_compressed(path, "#ucxbpf.evidence/99\n", parts[i].cut);
		assert_int_equal(gather(&gathered, policy, paths, 1, "check", false), parts[i].err);
		assert_int_equal(gathered.broken, parts[i].broken);
		gathered_release(&gathered);
		assert_int_equal(open_files(), before);
	}
	unlink(path);
	snprintf(path, sizeof(path), "%s/parts", folder);
	rmdir(path);
	rmdir(folder);
	policy_free(policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(parts_that_are_refused) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
