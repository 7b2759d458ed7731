// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/json_rows.h"

static json_t *memory_json(const struct fact_memory *memory)
{
	json_t *object = json_object();

	json_object_set_new(object, "process", json_integer(memory->process));
	json_object_set_new(object, "kind", json_out_text(memory->kind, "unknown"));
	json_object_set_new(object, "sort", json_out_text(memory->sort, "unknown"));
	json_object_set_new(object, "device",
			    memory->device < 0 ? json_null() : json_integer(memory->device));
	json_object_set_new(object, "exporter",
			    memory->exporter < 0 ? json_null() : json_integer(memory->exporter));
	json_object_set_new(object, "reason", json_out_text(memory->reason, NULL));
	json_object_set_new(object, "function", json_out_text(memory->function, "unknown"));
	json_object_set_new(object, "allocations", json_integer((json_int_t)memory->allocations));
	json_object_set_new(object, "bytes", json_integer((json_int_t)memory->bytes));
	json_object_set_new(object, "unsized", json_integer((json_int_t)memory->unsized));
	json_object_set_new(object, "live_peak", json_integer((json_int_t)memory->live_peak));
	return object;
}

void report_json_memory(const struct report *report, struct json_out *out)
{
	json_out_array(out, "memory");
	for (size_t i = 0; i < report->memory.len; i++)
		json_out_item(out, memory_json(&report->memory.data[i]));
	json_out_array_end(out);
}
