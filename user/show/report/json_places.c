// SPDX-License-Identifier: BSD-3-Clause
#include <inttypes.h>

#include "show/report/json_rows.h"

static json_t *hex(uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%#" PRIx64, value);
	return json_string(text);
}

static void set_text(json_t *object, const char *name, const char *text)
{
	json_object_set_new(object, name, json_out_text(text, NULL));
}

void report_json_place(json_t *object, const struct place *place)
{
	set_text(object, "label", place->label);
	set_text(object, "module", place->module);
	set_text(object, "build_id", place->build_id);
	json_object_set_new(object, "offset", place->module ? hex(place->offset) : json_null());
	set_text(object, "symbol", place->symbol);
	json_object_set_new(object, "symbol_offset",
			    place->symbol ? json_integer(place->symbol_offset) : json_null());
	set_text(object, "file", place->file);
	json_object_set_new(object, "line", place->file ? json_integer(place->line) : json_null());
	json_object_set_new(object, "address", place->module ? json_null() : hex(place->address));
	set_text(object, "reason", place->reason);
}

static json_t *call_site_json(const struct report *report, const struct cube_row *row)
{
	json_t *object = json_object();

	json_object_set_new(object, "process", json_integer((int64_t)row->key[0]));
	set_text(object, "function", cube_key_text(&report_call_sites_shape.keys[1], row->key[1]));
	report_json_place(object, report_place(report, row->key[2]));
	report_json_sums(object, &row->sums);
	return object;
}

void report_json_call_sites(const struct report *report, struct json_out *out)
{
	const struct cube_row **rows = cube_sorted(&report->call_sites, CUBE_BY_KEYS);

	json_out_array(out, "call_sites");
	for (size_t i = 0; i < report->call_sites.rows.len; i++)
		json_out_item(out, call_site_json(report, rows[i]));
	json_out_array_end(out);
	free(rows);
}
