// SPDX-License-Identifier: BSD-3-Clause
#include "observe/doctor/doctor.h"

#include <stdarg.h>

#include "base/exit_codes.h"

void doctor_init(struct doctor *doctor)
{
	doctor->report = json_pack("{s:s, s:[], s:[]}", "schema", "ucxbpf.doctor/1", "processes",
				   "problems");
	doctor->status = 0;
}

void doctor_release(struct doctor *doctor)
{
	json_decref(doctor->report);
}

void doctor_problem(struct doctor *doctor, enum problem_id id, ...)
{
	const struct problem *row = problem_row(id);
	char text[512];
	va_list args;

	va_start(args, id);
	vsnprintf(text, sizeof(text), row->text, args);
	va_end(args);
	json_array_append_new(json_object_get(doctor->report, "problems"),
			      json_pack("{s:s, s:b, s:s, s:s?}", "id", row->id, "fatal",
					row->status != 0, "text", text, "fix", row->fix));
	if (!doctor->status || doctor->status == UCXBPF_EXIT_PARTIAL)
		doctor->status = row->status ? row->status : doctor->status;
}
