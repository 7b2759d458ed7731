// SPDX-License-Identifier: BSD-3-Clause
/* One event per line, as JSON: schema "ucxbpf.events/1" (user/show/export/schema.c). */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "show/export/export.h"
#include "show/export/json_line.h"
#include "show/export/fields.h"

struct state {
	FILE *file;
	struct rows rows;
	struct json_line line;
	struct map places, stacks; /* key -> number */
};

static void put_json(struct state *state, const char *name, json_t *value)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

	if (!text)
		abort();
	json_line_raw(&state->line, name, text);
	free(text);
	json_decref(value);
}

static void put_fields(struct state *state, const struct field *fields, const void *fact)
{
	for (const struct field *field = fields; field->name; field++) {
		const struct field_value value = field_value(field, fact);

		json_line_field(&state->line, field, &value);
	}
}

/* The number of a place; one that is new gets a line before that of the fact. */
static uint64_t place_number(struct state *state, const struct place *place)
{
	uint64_t *number = map_insert(&state->places, (uintptr_t)place->key, 0, NULL);
	struct place_row row = { .place = *place };

	if (*number)
		return *number;
	*number = row.id = state->places.used;
	json_line_begin(&state->line, "place");
	put_fields(state, subject_infos[SUBJECT_PLACE].fields, &row);
	json_line_end(&state->line, state->file);
	return *number;
}

static json_t *frames_json(struct state *state, const struct stack *stack)
{
	json_t *frames = json_array();

	for (int i = 0; i < stack->depth; i++)
		json_array_append_new(
			frames, json_integer((json_int_t)place_number(state, stack->frames[i])));
	return frames;
}

static uint64_t stack_number(struct state *state, const struct stack *stack)
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

static uint64_t number_of(struct state *state, const struct field *field, const void *fact)
{
	const struct field_value value = field_value(field, fact);

	if (value.null)
		return 0;
	return field->type == FIELD_PLACE ? place_number(state, value.pointer)
					  : stack_number(state, value.pointer);
}

static bool is_reference(const struct field *field)
{
	return field->type == FIELD_PLACE || field->type == FIELD_STACK;
}

static void put_field(struct state *state, const struct field *field, const void *fact)
{
	struct field_value value = field_value(field, fact);

	/* Its line is written by now. */
	if (is_reference(field) && !value.null)
		value.number = number_of(state, field, fact);
	json_line_field(&state->line, field, &value);
}

static void put_fact(void *arg, enum subject subject, const void *fact,
		     const struct fact_sums *sums)
{
	struct state *state = arg;
	const struct subject_info *info = &subject_infos[subject];

	for (const struct field *field = info->fields; field->name; field++)
		if (is_reference(field))
			number_of(state, field, fact);
	json_line_begin(&state->line, info->name);
	for (const struct field *field = info->fields; field->name; field++)
		if (!sums || !field->single)
			put_field(state, field, fact);
	if (sums)
		put_fields(state, info->sums, sums);
	json_line_end(&state->line, state->file);
}

static struct fact_sink sink(void *arg)
{
	struct state *state = arg;

	return rows_sink(&state->rows);
}

static void *begin(struct export_target *target, int *err)
{
	struct state *state = calloc(1, sizeof(*state));

	*err = -ENOMEM;
	if (!state)
		return NULL;
	state->file = target->file;
	state->rows = (struct rows){ state, put_fact };
	json_line_begin(&state->line, "export");
	json_line_raw(&state->line, "schema", "\"" EXPORT_EVENTS_SCHEMA "\"");
	put_json(state, "filter", report_filter_json(target->request->filter));
	json_line_end(&state->line, state->file);
	return state;
}

static int end(void *arg, const struct fact_totals *totals)
{
	struct state *state = arg;

	rows_finish(&state->rows, totals);
	json_line_begin(&state->line, "totals");
	put_json(state, "totals", report_totals_json(totals));
	json_line_end(&state->line, state->file);
	return 0;
}

static void release(void *arg)
{
	struct state *state = arg;

	json_line_release(&state->line);
	map_release(&state->places);
	map_release(&state->stacks);
	free(state);
}

const struct export_format export_ndjson = {
	.name = "ndjson",
	.help = "every event, a JSON object per line: ucxbpf schema",
	.place = EXPORT_STREAM,
	.begin = begin,
	.sink = sink,
	.end = end,
	.free = release,
};
