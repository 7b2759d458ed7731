// SPDX-License-Identifier: BSD-3-Clause
/* The comparison for programs: docs/diff.md, docs/diff.schema.json. */
#include <jansson.h>

#include "base/shape.h"
#include "base/text.h"
#include "show/diff/internal.h"

SHAPE_GETTER(level_of, struct diff_run, run, json_string(level_names[run->level]));

static const struct shape run_shape[] = {
	SHAPE_OF(struct diff_run, name),    SHAPE_OF(struct diff_run, processes),
	SHAPE_OF(struct diff_run, hosts),   SHAPE_WHOLE("level", level_of),
	SHAPE_OF(struct diff_run, counted), SHAPE_OF(struct diff_run, mpi),
	SHAPE_OF(struct diff_run, ucx),     { 0 },
};

static const struct shape number_shape[] = {
	SHAPE_OF(struct diff_number, median),
	SHAPE_OF(struct diff_number, low),
	SHAPE_OF(struct diff_number, high),
	{ 0 },
};

/* Names of the keys and of the measures are those of the table. */
static json_t *keys_of(const void *from)
{
	const struct diff_row *row = from;
	json_t *keys = json_object();

	for (int i = 0; i < DIFF_KEYS && row->table->keys[i]; i++)
		json_object_set_new(keys, row->table->keys[i], shape_text(row->keys[i]));
	return keys;
}

static json_t *value_json(const struct diff_row *row, enum diff_side side)
{
	const struct diff_value *value = &row->values[side];
	json_t *to;

	if (!value->there)
		return NULL;
	to = json_object();
	if (value->text)
		json_object_set_new(to, "text", shape_text(value->text));
	for (int m = 0; m < DIFF_MEASURES && row->table->measures[m].name; m++)
		json_object_set_new(to, row->table->measures[m].name,
				    value->numbers[m].known
					    ? shape_json(number_shape, &value->numbers[m], NULL)
					    : json_null());
	if (value->samples)
		json_object_set_new(to, "samples", json_integer((json_int_t)value->samples));
	return to;
}

SHAPE_GETTER(section_of, struct diff_row, row,
	     json_string(diff_sections[row->table->section].name));
SHAPE_GETTER(table_of, struct diff_row, row, json_string(row->table->name));
SHAPE_GETTER(verdict_of, struct diff_row, row, json_string(diff_verdict_names[row->verdict]));
SHAPE_GETTER(before_of, struct diff_row, row, value_json(row, DIFF_BEFORE));
SHAPE_GETTER(after_of, struct diff_row, row, value_json(row, DIFF_AFTER));

static const struct shape row_shape[] = {
	SHAPE_WHOLE("section", section_of),
	SHAPE_WHOLE("table", table_of),
	SHAPE_WHOLE("key", keys_of),
	SHAPE_OF(struct diff_row, ranks),
	SHAPE_WHOLE("verdict", verdict_of),
	SHAPE_OF(struct diff_row, reason),
	SHAPE_WHOLE("before", before_of),
	SHAPE_WHOLE("after", after_of),
	{ 0 },
};

static json_t *runs_json(const struct diff *diff, enum diff_side side)
{
	json_t *runs = json_array();

	for (size_t i = 0; i < diff->runs.len; i++)
		if (diff->runs.data[i].side == side)
			json_array_append_new(runs,
					      shape_json(run_shape, &diff->runs.data[i], NULL));
	return runs;
}

static json_t *sections_json(const struct diff *diff)
{
	json_t *sections = json_object();

	for (int i = 0; i < DIFF_SECTIONS; i++)
		json_object_set_new(sections, diff_sections[i].name,
				    json_integer((json_int_t)diff->changed[i]));
	return sections;
}

static void dump(json_t *value, FILE *out)
{
	text_put_json(value, JSON_COMPACT, out);
	json_decref(value);
}

static void put(const char *name, json_t *value, FILE *out)
{
	fprintf(out, " \"%s\": ", name);
	dump(value, out);
	fputs(",\n", out);
}

int diff_json(const struct diff *diff, FILE *out)
{
	fputs("{\n", out);
	put("schema", json_string("ucxbpf.diff/1"), out);
	put("differences", json_integer((json_int_t)diff->outcome.differences), out);
	put("incomplete", json_boolean(diff->outcome.incomplete), out);
	put("sections", sections_json(diff), out);
	put("before", runs_json(diff, DIFF_BEFORE), out);
	put("after", runs_json(diff, DIFF_AFTER), out);
	put("notes", shape_texts(diff->limits.notes.data, diff->limits.notes.len), out);
	fputs(" \"rows\": [", out);
	for (size_t i = 0; i < diff->rows.len; i++) {
		fputs(i ? ",\n  " : "\n  ", out);
		dump(shape_json(row_shape, &diff->rows.data[i], NULL), out);
	}
	fputs("\n ]\n}\n", out);
	return text_finish(out);
}
