// SPDX-License-Identifier: BSD-3-Clause
/* More of everything than a node has, told in an order that is not the one of reports. */
#include "outcome.h"

#define MANY 10000

static void tell(struct job *job, int i)
{
	char pci[24];
	struct task task = job_process(job, (uint32_t)i + 1, i, "start");

	snprintf(pci, sizeof(pci), "%04x:00:00.0", MANY - i);
	json_array_append_new(job->sides,
			      json_pack("{s:s, s:i, s:{s:[[s, s]]}}", "t", "memory", "tgid",
					task.tgid, "ucx", "devices", pci, "GPU0"));
}

/* The process told of last has the first GPU, and so on. */
static void processes_and_gpus(void **state)
{
	struct outcome out = { 0 };
	struct job job, *jobs[] = { &job };

	(void)state;
	job_init(&job, "host-a", "run");
	for (int i = 0; i < MANY; i++)
		tell(&job, i);
	analyse(&out, jobs, 1);
	assert_int_equal(out.processes.len, MANY);
	assert_int_equal(out.totals.device_count, MANY);
	for (int i = 0; i < MANY; i++) {
		const struct fact_device *device = &out.totals.devices[i];

		assert_int_equal(out.processes.data[i].index, i);
		assert_int_equal(out.processes.data[i].rank, i);
		assert_int_equal(device->number, i);
		assert_int_equal(strtol(device->pci, NULL, 16), i + 1);
		assert_int_equal(device->user_count, 1);
		assert_int_equal(device->users[0].process, MANY - 1 - i);
		assert_int_equal(device->users[0].ordinal, 0);
	}
	outcome_release(&out);
	job_release(&job);
}

/* A pid that was used again and again: each life is a process of its own. */
static void lives_of_a_pid(void **state)
{
	struct outcome out = { 0 };
	struct job job, *jobs[] = { &job };

	(void)state;
	job_init(&job, "host-a", "run");
	for (int i = 0; i < MANY; i++)
		json_array_append_new(job.sides,
				      json_pack("{s:s, s:i, s:i, s:i, s:i}", "t", "process", "tgid",
						7, "start_time", MANY - i, "ts", i, "rank", i));
	analyse(&out, jobs, 1);
	assert_int_equal(out.processes.len, MANY);
	for (int i = 0; i < MANY; i++) {
		assert_int_equal(out.processes.data[i].tgid, 7);
		assert_int_equal(out.processes.data[i].start_time, MANY - i);
		assert_int_equal(out.processes.data[i].rank, i);
	}
	outcome_release(&out);
	job_release(&job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_and_gpus),
		cmocka_unit_test(lives_of_a_pid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
