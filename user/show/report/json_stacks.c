// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/json_rows.h"

static json_t *frames_json(const struct stack *stack)
{
	json_t *frames = json_array();

	for (int i = 0; i < stack->depth; i++) {
		json_t *frame = json_object();

		report_json_place(frame, stack->frames[i]);
		json_array_append_new(frames, frame);
	}
	return frames;
}

static json_t *stack_json(const struct report *report, const struct cube_row *row)
{
	const struct stack *stack = report_stack(report, row->key[2]);
	json_t *object = json_object();

	json_object_set_new(object, "process", json_integer((int64_t)row->key[0]));
	json_object_set_new(
		object, "function",
		json_out_text(cube_key_text(&report_stacks_shape.keys[1], row->key[1]), NULL));
	json_object_set_new(object, "end", json_out_text(stack->end, NULL));
	json_object_set_new(object, "frames", frames_json(stack));
	report_json_sums(object, &row->sums);
	return object;
}

void report_json_stacks(const struct report *report, struct json_out *out)
{
	const struct cube_row **rows = cube_sorted(&report->stacks, CUBE_BY_KEYS);

	json_out_array(out, "stacks");
	for (size_t i = 0; i < report->stacks.rows.len; i++)
		json_out_item(out, stack_json(report, rows[i]));
	json_out_array_end(out);
	free(rows);
}
