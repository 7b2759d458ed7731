// SPDX-License-Identifier: BSD-3-Clause
/* One event per line, as JSON: schema "ucxbpf.events/1" (user/export/schema.c). */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

#include "base/place.h"
#include "export/formats.h"
#include "export/json_line.h"

struct state {
	FILE *file;
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

	if (*number)
		return *number;
	*number = state->places.used;
	json_line_begin(&state->line, "place");
	json_line_number(&state->line, "id", (int64_t)*number);
	put_fields(state, subject_infos[SUBJECT_PLACE].fields, place);
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

static void put_fact(struct state *state, enum subject subject, const void *fact,
		     const struct fact_sums *sums)
{
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

static void put_ucx(struct state *state, const struct fact_process *process)
{
	for (int i = 0; i < process->ucx_count; i++) {
		json_line_begin(&state->line, subject_infos[SUBJECT_UCX].name);
		json_line_number(&state->line, "process", process->index);
		put_fields(state, subject_infos[SUBJECT_UCX].fields, &process->ucx[i]);
		json_line_end(&state->line, state->file);
	}
}

static void take_process(void *arg, const struct fact_process *process)
{
	put_fact(arg, SUBJECT_PROCESS, process, NULL);
	put_ucx(arg, process);
}

static void take_clock(void *arg, const struct fact_clock *clock)
{
	put_fact(arg, SUBJECT_CLOCK, clock, NULL);
}

static void take_call(void *arg, const struct fact_call *call)
{
	put_fact(arg, SUBJECT_CALL, call, NULL);
}

static void take_op(void *arg, const struct fact_op *op)
{
	put_fact(arg, SUBJECT_OP, op, NULL);
}

static void take_transfer(void *arg, const struct fact_transfer *transfer)
{
	put_fact(arg, SUBJECT_TRANSFER, transfer, NULL);
}

static void take_message(void *arg, const struct fact_message *message)
{
	put_fact(arg, SUBJECT_MESSAGE, message, NULL);
}

static void take_window(void *arg, const struct fact_window *window)
{
	put_fact(arg, SUBJECT_WINDOW, window, NULL);
}

static void take_memory(void *arg, const struct fact_memory *memory)
{
	put_fact(arg, SUBJECT_MEMORY, memory, NULL);
}

static void take_calls(void *arg, const struct fact_call *call, const struct fact_sums *sums)
{
	put_fact(arg, SUBJECT_CALLS, call, sums);
}

static void take_ops(void *arg, const struct fact_op *op, const struct fact_sums *sums)
{
	put_fact(arg, SUBJECT_OPS, op, sums);
}

static void take_transfers(void *arg, const struct fact_transfer *transfer,
			   const struct fact_sums *sums)
{
	put_fact(arg, SUBJECT_TRANSFERS, transfer, sums);
}

static struct fact_sink sink(void *arg)
{
	return (struct fact_sink){
		.arg = arg,
		.process = take_process,
		.clock = take_clock,
		.call = take_call,
		.op = take_op,
		.transfer = take_transfer,
		.message = take_message,
		.window = take_window,
		.memory = take_memory,
		.calls = take_calls,
		.ops = take_ops,
		.transfers = take_transfers,
	};
}

static void *begin(struct export_target *target, int *err)
{
	struct state *state = calloc(1, sizeof(*state));

	*err = -ENOMEM;
	if (!state)
		return NULL;
	state->file = target->file;
	json_line_begin(&state->line, "export");
	json_line_raw(&state->line, "schema", "\"" EXPORT_EVENTS_SCHEMA "\"");
	put_json(state, "filter", report_filter_json(target->request->filter));
	json_line_end(&state->line, state->file);
	return state;
}

static int end(void *arg, const struct fact_totals *totals)
{
	struct state *state = arg;

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
