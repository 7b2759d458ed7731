// SPDX-License-Identifier: BSD-3-Clause
/* Facts of processes, of those too of which the capture has no record. */
#include "unit/outcome.h"

static void undescribed(void **state)
{
	struct outcome out;
	struct job job, *jobs[] = { &job };
	struct task told, untold;

	(void)state;
	job_init(&job, "h1", "start");
	told = job_process(&job, 1, 0, "start");
	untold = (struct task){ .job = &job, .tgid = 2, .tid = 2 };
	job_call(&told, AT_MPI_TEST);
	job_call(&untold, AT_MPI_TEST);
	analyse(&out, jobs, 1);
	assert_int_equal(out.processes.len, 2);
	assert_int_equal(out.processes.data[0].tgid, 1);
	assert_false(out.processes.data[0].undescribed);
	assert_null(fact_mpi(&out.processes.data[0]));
	assert_int_equal(out.processes.data[1].tgid, 2);
	assert_true(out.processes.data[1].undescribed);
	assert_true(out.processes.data[1].ucx_unknown);
	assert_string_equal(fact_mpi(&out.processes.data[1]), "unknown");
	outcome_release(&out);
	job_release(&job);
}

/* One whose libraries are all known, one that ended before the last of them could be read. */
static void libraries_unread(void **state)
{
	struct outcome out;
	struct job job, *jobs[] = { &job };
	struct task tasks[2];

	(void)state;
	job_init(&job, "h1", "start");
	for (int i = 0; i < 2; i++) {
		tasks[i] = job_process(&job, i + 1, i, "start");
		job_call(&tasks[i], AT_MPI_TEST);
	}
	json_array_append_new(job.sides, json_pack("{s:s, s:i, s:I}", "t", "unread", "tgid", 2,
						   "ts", (json_int_t)job.now));
	analyse(&out, jobs, 1);
	assert_int_equal(out.processes.len, 2);
	for (int i = 0; i < 2; i++) {
		assert_false(out.processes.data[i].undescribed);
		assert_int_equal(out.processes.data[i].ucx_unknown, i == 1);
	}
	outcome_release(&out);
	job_release(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(undescribed),
		cmocka_unit_test(libraries_unread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
