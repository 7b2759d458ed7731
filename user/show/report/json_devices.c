// SPDX-License-Identifier: BSD-3-Clause
#include "show/report/json_rows.h"

#include <stdio.h>

static json_t *users_json(const struct fact_device *device)
{
	json_t *list = json_array();

	for (int i = 0; i < device->user_count; i++)
		json_array_append_new(list,
				      json_pack("{s:i, s:i}", "process", device->users[i].process,
						"ordinal", device->users[i].ordinal));
	return list;
}

static json_t *device_json(const struct fact_device *device)
{
	json_t *object = json_object();
	char name[24];

	snprintf(name, sizeof(name), "gpu%d", device->number);
	json_object_set_new(object, "host", json_integer(device->host));
	json_object_set_new(object, "name", json_string(name));
	json_object_set_new(object, "pci", json_out_text(device->pci, NULL));
	json_object_set_new(object, "uuid", json_out_text(device->uuid, NULL));
	json_object_set_new(object, "model", json_out_text(device->model, NULL));
	json_object_set_new(object, "numa_node",
			    device->numa_node < 0 ? json_null() : json_integer(device->numa_node));
	json_object_set_new(object, "processes", users_json(device));
	return object;
}

void report_json_devices(const struct report *report, struct json_out *out)
{
	json_out_array(out, "devices");
	for (int i = 0; i < report->totals.device_count; i++)
		json_out_item(out, device_json(&report->totals.devices[i]));
	json_out_array_end(out);
}
