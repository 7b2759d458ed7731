// SPDX-License-Identifier: BSD-3-Clause
/* Nodes as batch systems list them, and jobs as they name them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cmd/input/hosts.h"
#include "cmd/trace/job.h"

/* The names that a function adds, with blanks between them; the caller's. */
static const char *listed(int (*add)(const char *, struct policy *, texts *), const char *from)
{
	static char text[512];
	struct policy *names = policy_default();
	texts nodes = { 0 };
	int err = add(from, names, &nodes);

	text[0] = '\0';
	for (size_t i = 0; !err && i < nodes.len; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
			 nodes.data[i]);
	if (err)
		snprintf(text, sizeof(text), "%d", err);
	vec_release(&nodes);
	policy_free(names);
	return text;
}

static void lsf(void **state)
{
	char wrong[16];

	(void)state;
	snprintf(wrong, sizeof(wrong), "%d", -EINVAL);
	assert_string_equal(listed(hosts_from_slots, "hostA 4 hostB 2"), "hostA hostB");
	assert_string_equal(listed(hosts_from_slots, " c01.site.org  16 "), "c01.site.org");
	assert_string_equal(listed(hosts_from_slots, ""), "");
	assert_string_equal(listed(hosts_from_slots, "hostA"), wrong);
	assert_string_equal(listed(hosts_from_slots, "hostA hostB"), wrong);
	assert_string_equal(listed(hosts_from_slots, "hostA 4 hostB"), wrong);
	assert_string_equal(listed(hosts_from_slots, "hostA -1"), wrong);
}

static void pbs(void **state)
{
	char path[] = "/tmp/ucxbpf-hosts-XXXXXX", wrong[16];
	FILE *file = fdopen(mkstemp(path), "w");

	(void)state;
	fputs("# made by a server\nn0\nn0\n\n  n1.site # the second\r\n", file);
	fclose(file);
	assert_string_equal(listed(hosts_from_file, path), "n0 n0 n1.site");
	unlink(path);
	snprintf(wrong, sizeof(wrong), "%d", -ENOENT);
	assert_string_equal(listed(hosts_from_file, path), wrong);
}

static void slurm(void **state)
{
	char wrong[16];

	(void)state;
	snprintf(wrong, sizeof(wrong), "%d", -EINVAL);
	assert_string_equal(listed(hosts_from_list, "n[0-1],m7"), "n0 n1 m7");
	assert_string_equal(listed(hosts_from_list, "n[0"), wrong);
}

#define HAS(text, id) job_has(text, sizeof(text), id)

static void jobs(void **state)
{
	(void)state;
	assert_true(job_is("12", "12"));
	assert_true(job_is("12.server", "12"));
	assert_true(job_is("12.server", "12.server"));
	assert_true(job_is("12[3].server", "12[3]"));
	assert_false(job_is("123", "12"));
	assert_false(job_is("12", "12.server"));
	assert_false(job_is("12", ""));
	assert_true(HAS("A=1\0SLURM_JOB_ID=12\0B=2", "12"));
	assert_true(HAS("PBS_JOBID=12.server", "12"));
	assert_true(HAS("LSB_JOBID=12", "12"));
	assert_true(HAS("FLUX_JOB_ID=f12", "f12"));
	/* neither of another name, nor of a step's */
	assert_false(HAS("XSLURM_JOB_ID=12\0SLURM_JOB_IDX=12\0SLURM_STEP_ID=12", "12"));
	assert_false(HAS("SLURM_JOB_ID=121", "12"));
	assert_false(job_has("", 0, "12"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lsf),
		cmocka_unit_test(pbs),
		cmocka_unit_test(slurm),
		cmocka_unit_test(jobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
