// SPDX-License-Identifier: BSD-3-Clause
/* The JSON Schema of ndjson's lines, made of the tables that they are written by. */
#include <errno.h>
#include <jansson.h>

#include "show/export/export.h"
#include "show/export/fields.h"

/* As JSON Schema names them; a second type where null stands for unknown or none. */
static const struct {
	const char *type;
	bool nullable;
} types[FIELD_TYPES] = {
	[FIELD_TEXT] = { "string", true },      [FIELD_INT] = { "integer", false },
	[FIELD_INDEX] = { "integer", true },    [FIELD_U32] = { "integer", false },
	[FIELD_ID32] = { "integer", true },     [FIELD_U64] = { "integer", false },
	[FIELD_TIME] = { "integer", true },     [FIELD_NS] = { "integer", false },
	[FIELD_ID] = { "integer", true },       [FIELD_SIZE] = { "integer", true },
	[FIELD_BITS] = { "string", false },     [FIELD_ADDRESS] = { "string", true },
	[FIELD_BOOL] = { "boolean", false },    [FIELD_PRECISION] = { "string", true },
	[FIELD_LOCALITY] = { "string", false }, [FIELD_KIND] = { "string", false },
	[FIELD_PLACE] = { "integer", true },    [FIELD_STACK] = { "integer", true },
};

static json_t *words_json(const char *const *words, bool nullable)
{
	json_t *array = json_array();

	for (; *words; words++)
		json_array_append_new(array, json_string(*words));
	if (nullable)
		json_array_append_new(array, json_null());
	return array;
}

static json_t *field_json(const struct field *field)
{
	bool nullable = types[field->type].nullable;
	const char *type = types[field->type].type;
	json_t *object = json_object();

	json_object_set_new(object, "type",
			    nullable ? json_pack("[s, s]", type, "null") : json_string(type));
	if (field_words(field->type))
		json_object_set_new(object, "enum", words_json(field_words(field->type), nullable));
	if (field->type == FIELD_BITS || field->type == FIELD_ADDRESS)
		json_object_set_new(object, "pattern", json_string("^0x[0-9a-f]+$"));
	json_object_set_new(object, "description", json_string(field->help));
	return object;
}

static json_t *line_json(const char *event, const char *help)
{
	return json_pack("{s:s, s:s, s:{s:{s:s}}, s:b, s:[s]}", "description", help, "type",
			 "object", "properties", "event", "const", event, "additionalProperties", 0,
			 "required", "event");
}

static void add(json_t *line, const char *name, json_t *property)
{
	json_object_set_new(json_object_get(line, "properties"), name, property);
	json_array_append_new(json_object_get(line, "required"), json_string(name));
}

static void add_number(json_t *line, const char *name, const char *help)
{
	add(line, name, json_pack("{s:s, s:s}", "type", "integer", "description", help));
}

static json_t *subject_json(enum subject subject)
{
	const struct subject_info *info = &subject_infos[subject];
	json_t *line = line_json(info->name, info->help);

	for (const struct field *field = info->fields; field->name; field++)
		if (!info->sums || !field->single)
			add(line, field->name, field_json(field));
	for (const struct field *field = info->sums; field && field->name; field++)
		add(line, field->name, field_json(field));
	return line;
}

static json_t *export_json(void)
{
	json_t *line = line_json("export", "the first line");

	add(line, "schema", json_pack("{s:s}", "const", EXPORT_EVENTS_SCHEMA));
	add(line, "filter",
	    json_pack("{s:[s, s], s:s}", "type", "object", "null", "description",
		      "option name to list of patterns; null: every event is here"));
	return line;
}

static json_t *stack_json(void)
{
	json_t *line = line_json("stack", "a path that calls came by; before what refers to it");

	add_number(line, "id", "number that calls refer to");
	add(line, "end",
	    json_pack("{s:[s, s], s:s}", "type", "string", "null", "description",
		      "why there are no more frames; null: the outermost one is there"));
	add(line, "places",
	    json_pack("{s:s, s:{s:s}, s:s}", "type", "array", "items", "type", "integer",
		      "description", "numbers of places, the innermost first"));
	return line;
}

static json_t *totals_json(void)
{
	json_t *line = line_json("totals", "the last line: a file without it was cut short");

	add(line, "totals",
	    json_pack("{s:s, s:s}", "type", "object", "description",
		      "loss, matching, attribution, notes, self, counted: as in the report, over "
		      "the whole capture, whatever the filter"));
	return line;
}

int export_schema(FILE *out)
{
	json_t *lines = json_array(), *schema;
	int err;

	json_array_append_new(lines, export_json());
	for (int i = 0; i < SUBJECTS; i++)
		json_array_append_new(lines, subject_json((enum subject)i));
	json_array_append_new(lines, stack_json());
	json_array_append_new(lines, totals_json());
	schema = json_pack(
		"{s:s, s:s, s:s, s:o}", "$schema", "https://json-schema.org/draft/2020-12/schema",
		"title", EXPORT_EVENTS_SCHEMA, "description",
		"a line of ucxbpf export -f ndjson; more fields may come", "oneOf", lines);
	errno = 0;
	err = json_dumpf(schema, out, JSON_INDENT(1));
	json_decref(schema);
	if (err || fputc('\n', out) == EOF || fflush(out))
		return errno ? -errno : -EIO;
	return 0;
}
