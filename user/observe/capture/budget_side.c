// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/budget_side.h"

#include "observe/capture/session.h"
#include "observe/capture/side.h"

static json_t *ppm(double share)
{
	return json_integer((json_int_t)(share * 1e6 + 0.5));
}

void budget_side(struct capture *capture)
{
	const struct budget *budget = &capture->budget;
	const struct governor *governor = &budget->governor;
	uint64_t now = side_now();
	json_t *record =
		json_pack("{s:s, s:I, s:s, s:s, s:o, s:o}", "t", "budget", "ts", (json_int_t)now,
			  "step", governor_step_name(governor->step), "reason", governor->reason,
			  "budget_ppm", ppm(governor->budget), "share_ppm", ppm(budget->share));
	json_t *expected = json_object(), *programs = json_array();

	for (int step = STEP_MPI; step < STEPS; step++)
		json_object_set_new(expected, governor_step_name(step),
				    ppm(governor_predict(governor, now, step)));
	for (int group = 0; group < UB_GROUPS; group++)
		json_array_append_new(programs, json_integer((json_int_t)budget->program[group]));
	json_object_set_new(record, "expected_ppm", expected);
	if (budget->tid) {
		json_object_set_new(record, "tgid", json_integer(budget->tgid));
		json_object_set_new(record, "tid", json_integer(budget->tid));
	}
	json_object_set_new(record, "entry_ns", json_integer((json_int_t)budget->trap.entry));
	json_object_set_new(record, "return_ns", json_integer((json_int_t)budget->trap.at_return));
	json_object_set_new(record, "program_ns", programs);
	if (governor->step == STEP_WINDOWS) {
		json_object_set_new(record, "length_ns",
				    json_integer((json_int_t)capture->windows.length));
		json_object_set_new(record, "period_ns",
				    json_integer((json_int_t)capture->windows.period));
	}
	side_write(capture->writer, record);
}
