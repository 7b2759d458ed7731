// SPDX-License-Identifier: BSD-3-Clause
/*
 * One JSON object per line: schema "ucxbpf.events/1", generated from the same columns that the
 * lines are written from.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"
#include "explain/facts/columns.h"
#include "show/export/export.h"

/*
 * A line, built member by member. There may be millions: no JSON tree is made, and a name is
 * escaped only once (names are interned while facts arrive, one pointer per text).
 */
struct json_line {
	VEC(char) text;
	VEC(char *) names; /* as JSON strings */
	struct map known; /* pointer -> number in names + 1 */
};

static void json_line_release(struct json_line *line)
{
	for (size_t i = 0; i < line->names.len; i++)
		free(line->names.data[i]);
	vec_release(&line->names);
	vec_release(&line->text);
	map_release(&line->known);
}

static void ndjson_put(struct json_line *line, const char *text, size_t len)
{
	vec_reserve(&line->text, line->text.len + len);
	memcpy(line->text.data + line->text.len, text, len);
	line->text.len += len;
}

static void put_text(struct json_line *line, const char *text)
{
	ndjson_put(line, text, strlen(text));
}

static void put_number(struct json_line *line, uint64_t value)
{
	char digits[20], *first = digits + sizeof(digits);

	do {
		*--first = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	ndjson_put(line, first, (size_t)(digits + sizeof(digits) - first));
}

static void put_signed(struct json_line *line, int64_t value)
{
	if (value < 0)
		ndjson_put(line, "-", 1);
	put_number(line, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

static void put_hex(struct json_line *line, uint64_t value)
{
	char text[24];

	ndjson_put(line, text,
		   (size_t)snprintf(text, sizeof(text), "\"0x%llx\"", (unsigned long long)value));
}

static void put_character(FILE *out, const char *text, size_t len, unsigned int code)
{
	if (!len)
		fputc('?', out);
	else if (code == '"' || code == '\\')
		fprintf(out, "\\%c", (char)code);
	else if (text_steers(code))
		fprintf(out, "\\u%04x", code);
	else
		fwrite(text, 1, len, out);
}

/* As a JSON string: control characters and line breaks are escaped, invalid UTF-8 becomes '?'. */
static char *escaped(const char *text)
{
	char *json = NULL;
	unsigned int code;
	size_t size, len;
	FILE *out = xmemstream(&json, &size);

	fputc('"', out);
	for (; *text; text += len ? len : 1) {
		len = text_character(text, &code);
		put_character(out, text, len, code);
	}
	fputc('"', out);
	fclose(out);
	return json;
}

static const char *name_of(struct json_line *line, const char *text)
{
	uint64_t *known = map_insert(&line->known, (uintptr_t)text, 0, NULL);

	if (!*known) {
		vec_push(&line->names, escaped(text));
		*known = line->names.len;
	}
	return line->names.data[*known - 1];
}

/* Begins {"event":"name". */
static void json_line_begin(struct json_line *line, const char *event)
{
	line->text.len = 0;
	put_text(line, "{\"event\":\"");
	put_text(line, event);
	put_text(line, "\"");
}

/* Starts a member; name needs no escaping. */
static void json_line_name(struct json_line *line, const char *name)
{
	ndjson_put(line, ",\"", 2);
	put_text(line, name);
	ndjson_put(line, "\":", 2);
}

static void json_line_number(struct json_line *line, const char *name, int64_t value)
{
	json_line_name(line, name);
	put_signed(line, value);
}

/* A member's value as JSON text. */
static void json_line_raw(struct json_line *line, const char *name, const char *json)
{
	json_line_name(line, name);
	put_text(line, json);
}

static void json_line_text(struct json_line *line, const char *name, const char *interned)
{
	json_line_raw(line, name, interned ? name_of(line, interned) : "null");
}

/* Any column but places and stacks. */
static void json_line_column(struct json_line *line, const struct fact_column *column,
			     const struct column_value *value)
{
	json_line_name(line, column->name);
	if (value->null)
		ndjson_put(line, "null", 4);
	else if (value->text)
		put_text(line, name_of(line, value->text));
	else if (column->type == COLUMN_BOOL)
		put_text(line, value->number ? "true" : "false");
	else if (column->type == COLUMN_BITS || column->type == COLUMN_ADDRESS)
		put_hex(line, value->number);
	else if (column->type == COLUMN_INT)
		put_signed(line, (int64_t)value->number);
	else
		put_number(line, value->number);
}

/* Ends the object and the line. */
static void json_line_end(struct json_line *line, FILE *out)
{
	ndjson_put(line, "}\n", 2);
	fwrite_unlocked(line->text.data, 1, line->text.len, out);
}

/* JSON Schema types; nullable where null stands for unknown or none. */
static const struct {
	const char *type;
	bool nullable;
} types[COLUMN_TYPES] = {
	[COLUMN_TEXT] = { "string", true },      [COLUMN_INT] = { "integer", false },
	[COLUMN_INDEX] = { "integer", true },    [COLUMN_U32] = { "integer", false },
	[COLUMN_ID32] = { "integer", true },     [COLUMN_U64] = { "integer", false },
	[COLUMN_TIME] = { "integer", true },     [COLUMN_NS] = { "integer", false },
	[COLUMN_ID] = { "integer", true },       [COLUMN_SIZE] = { "integer", true },
	[COLUMN_BITS] = { "string", false },     [COLUMN_ADDRESS] = { "string", true },
	[COLUMN_BOOL] = { "boolean", false },    [COLUMN_PRECISION] = { "string", true },
	[COLUMN_LOCALITY] = { "string", false }, [COLUMN_KIND] = { "string", false },
	[COLUMN_PLACE] = { "integer", true },    [COLUMN_STACK] = { "integer", true },
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

static json_t *column_json(const struct fact_column *column)
{
	bool nullable = types[column->type].nullable;
	const char *type = types[column->type].type;
	json_t *object = json_object();

	json_object_set_new(object, "type",
			    nullable ? json_pack("[s, s]", type, "null") : json_string(type));
	if (column_words(column->type))
		json_object_set_new(object, "enum",
				    words_json(column_words(column->type), nullable));
	if (column->type == COLUMN_BITS || column->type == COLUMN_ADDRESS)
		json_object_set_new(object, "pattern", json_string("^0x[0-9a-f]+$"));
	json_object_set_new(object, "description", json_string(column->help));
	return object;
}

static json_t *line_json(const char *event, const char *help)
{
	return json_pack("{s:s, s:s, s:{s:{s:s}}, s:[s]}", "description", help, "type", "object",
			 "properties", "event", "const", event, "required", "event");
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

static json_t *type_json(enum fact_type type)
{
	const struct fact_info *info = &fact_infos[type];
	json_t *line = line_json(info->name, info->help);

	for (const struct fact_column *column = info->columns; column->name; column++)
		if (!info->sums || !column->single)
			add(line, column->name, column_json(column));
	for (const struct fact_column *column = info->sums; column && column->name; column++)
		add(line, column->name, column_json(column));
	return line;
}

static json_t *first_json(void)
{
	json_t *line = line_json("export", "the first line");

	add(line, "schema", json_pack("{s:s}", "const", EXPORT_EVENTS_SCHEMA));
	add(line, "filter",
	    json_pack("{s:[s, s], s:s}", "type", "object", "null", "description",
		      "option name to list of patterns; null: no filter"));
	return line;
}

static json_t *stack_json(void)
{
	json_t *line = line_json("stack", "a call stack; precedes the calls that refer to it");

	add_number(line, "id", "number that calls refer to");
	add(line, "end",
	    json_pack("{s:[s, s], s:s}", "type", "string", "null", "description",
		      "why outer frames are missing; null: the stack is complete"));
	add(line, "places",
	    json_pack("{s:s, s:{s:s}, s:s}", "type", "array", "items", "type", "integer",
		      "description", "numbers of places, innermost first"));
	return line;
}

static json_t *totals_json(void)
{
	json_t *line = line_json("totals", "the last line: a file without it is truncated");

	add(line, "totals",
	    json_pack("{s:s, s:s}", "type", "object", "description",
		      "loss, matching, attribution, notes, self, counted: as in the report, for "
		      "the whole capture, whatever the filter"));
	return line;
}

int export_schema(FILE *out)
{
	json_t *lines = json_array(), *schema;
	int err;

	json_array_append_new(lines, first_json());
	for (int i = 0; i < FACT_TYPES; i++)
		json_array_append_new(lines, type_json((enum fact_type)i));
	json_array_append_new(lines, stack_json());
	json_array_append_new(lines, totals_json());
	schema = json_pack(
		"{s:s, s:s, s:s, s:o}", "$schema", "https://json-schema.org/draft/2020-12/schema",
		"title", EXPORT_EVENTS_SCHEMA, "description",
		"a line of ucxbpf export -f ndjson; fields may be added", "oneOf", lines);
	errno = 0;
	err = json_dumpf(schema, out, JSON_INDENT(1));
	json_decref(schema);
	if (err || fputc('\n', out) == EOF || fflush(out))
		return errno ? -errno : -EIO;
	return 0;
}

struct ndjson_export {
	FILE *file;
	struct json_line line;
	struct map places, stacks; /* key -> number */
};

static void put_json(struct ndjson_export *state, const char *name, json_t *value)
{
	char *text = text_json(value, JSON_COMPACT);

	json_line_raw(&state->line, name, text);
	free(text);
	json_decref(value);
}

static void put_columns(struct ndjson_export *state, const struct fact_column *columns,
			const void *fact)
{
	for (const struct fact_column *column = columns; column->name; column++) {
		const struct column_value value = column_value(column, fact);

		json_line_column(&state->line, column, &value);
	}
}

/* The number of a place; a new one is written on a line of its own before the fact. */
static uint64_t place_number(struct ndjson_export *state, const struct place *place)
{
	uint64_t *number = map_insert(&state->places, (uintptr_t)place->key, 0, NULL);
	struct fact_place row = { .place = *place };

	if (*number)
		return *number;
	*number = row.id = state->places.used;
	json_line_begin(&state->line, "place");
	put_columns(state, fact_infos[FACT_PLACE].columns, &row);
	json_line_end(&state->line, state->file);
	return *number;
}

static json_t *frames_json(struct ndjson_export *state, const struct stack *stack)
{
	json_t *frames = json_array();

	for (int i = 0; i < stack->depth; i++)
		json_array_append_new(
			frames, json_integer((json_int_t)place_number(state, stack->frames[i])));
	return frames;
}

static uint64_t stack_number(struct ndjson_export *state, const struct stack *stack)
{
	uint64_t *known = map_insert(&state->stacks, (uintptr_t)stack->key, 0, NULL), number;
	json_t *frames;

	if (*known)
		return *known;
	number = *known = state->stacks.used;
	frames = frames_json(state, stack);
	json_line_begin(&state->line, "stack");
	json_line_number(&state->line, "id", (int64_t)number);
	json_line_text(&state->line, "end", stack->end);
	put_json(state, "places", frames);
	json_line_end(&state->line, state->file);
	return number;
}

static uint64_t number_of(struct ndjson_export *state, const struct fact_column *column,
			  const void *fact)
{
	const struct column_value value = column_value(column, fact);

	if (value.null)
		return 0;
	return column->type == COLUMN_PLACE ? place_number(state, value.pointer)
					    : stack_number(state, value.pointer);
}

static bool is_reference(const struct fact_column *column)
{
	return column->type == COLUMN_PLACE || column->type == COLUMN_STACK;
}

static void put_column(struct ndjson_export *state, const struct fact_column *column,
		       const void *fact)
{
	struct column_value value = column_value(column, fact);

	/* The line it refers to has been written. */
	if (is_reference(column) && !value.null)
		value.number = number_of(state, column, fact);
	json_line_column(&state->line, column, &value);
}

static void put_fact(void *arg, enum fact_type type, const void *fact, const struct fact_sums *sums)
{
	struct ndjson_export *state = arg;
	const struct fact_info *info = &fact_infos[type];

	for (const struct fact_column *column = info->columns; column->name; column++)
		if (is_reference(column))
			number_of(state, column, fact);
	json_line_begin(&state->line, info->name);
	for (const struct fact_column *column = info->columns; column->name; column++)
		if (!sums || !column->single)
			put_column(state, column, fact);
	if (sums)
		put_columns(state, info->sums, sums);
	json_line_end(&state->line, state->file);
}

static struct fact_sink sink(void *arg)
{
	return (struct fact_sink){ arg, put_fact };
}

static void *ndjson_export_begin(struct export_target *target, int *err)
{
	struct ndjson_export *state = xcalloc(1, sizeof(*state));

	(void)err;
	state->file = target->file;
	json_line_begin(&state->line, "export");
	json_line_raw(&state->line, "schema", "\"" EXPORT_EVENTS_SCHEMA "\"");
	put_json(state, "filter", report_filter_json(target->request->filter));
	json_line_end(&state->line, state->file);
	return state;
}

static int ndjson_export_end(void *arg, const struct fact_totals *totals)
{
	struct ndjson_export *state = arg;

	json_line_begin(&state->line, "totals");
	put_json(state, "totals", report_totals_json(totals));
	json_line_end(&state->line, state->file);
	return 0;
}

static void ndjson_export_free(void *arg)
{
	struct ndjson_export *state = arg;

	json_line_release(&state->line);
	map_release(&state->places);
	map_release(&state->stacks);
	free(state);
}

const struct export_format export_ndjson = {
	.name = "ndjson",
	.help = "every event, one JSON object per line (see ucxbpf schema)",
	.place = EXPORT_STREAM,
	.begin = ndjson_export_begin,
	.sink = sink,
	.end = ndjson_export_end,
	.free = ndjson_export_free,
};
