// SPDX-License-Identifier: BSD-3-Clause
/*
 * Addresses of code, and stacks of them: side records hold the module and the symbol of each
 * address.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/demangle.h"
#include "base/library_role.h"
#include "explain/decode/internal.h"

static const char *intern(struct decoder *decoder, const json_t *side, const char *key)
{
	return strings_intern(&decoder->strings, json_string_value(json_object_get(side, key)));
}

static int number(const json_t *side, const char *key)
{
	return (int)json_integer_value(json_object_get(side, key));
}

static struct place *place_new(struct decoder *decoder)
{
	struct place *place = xcalloc(1, sizeof(*place));

	vec_push(&decoder->places, place);
	return place;
}

static enum file_sort file_sort(const json_t *program)
{
	return json_is_true(program)    ? FILE_PROGRAM
	       : json_is_false(program) ? FILE_LIBRARY
					: FILE_UNKNOWN;
}

void decode_module(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	uint64_t id = side_u64(side, "id");

	while (capture->modules.len <= id && capture->modules.len < UINT16_MAX)
		vec_add(&capture->modules);
	if (id >= capture->modules.len)
		return;
	capture->modules.data[id] =
		(struct code_module){ intern(decoder, side, "path"),
				      intern(decoder, side, "build_id"),
				      file_sort(json_object_get(side, "program")) };
}

/* The one place where names of C++ are read: its short form is the frame. */
static void name_symbol(struct decoder *decoder, struct place *symbol)
{
	char *name = demangle(symbol->symbol);

	symbol->frame = symbol->symbol;
	if (!name)
		return;
	symbol->demangled = strings_intern(&decoder->strings, name);
	demangled_shorten(name);
	symbol->frame = strings_intern(&decoder->strings, name);
	free(name);
}

/* Kept until the addresses are read: one symbol may serve many processes. */
void decode_symbol(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	struct place *place = place_new(decoder);

	place->symbol = intern(decoder, side, "symbol");
	name_symbol(decoder, place);
	place->symbol_offset = side_u64(side, "symbol_offset");
	place->file = intern(decoder, side, "file");
	place->line = number(side, "line");
	*map_insert(&capture->symbols, side_u64(side, "offset"), side_u64(side, "module"), NULL) =
		(uintptr_t)place;
}

static void name_place(struct decoder *decoder, const struct process *process, struct place *place)
{
	char address[32], module[512], line[512], *symbol = NULL;
	const char *label = address, *frame;

	snprintf(address, sizeof(address), "%#" PRIx64, place->address);
	if (place->module)
		label = module;
	snprintf(module, sizeof(module), "%s+%#" PRIx64,
		 place->module ? basename(place->module) : "", place->offset);
	frame = label;
	if (place->symbol) {
		frame = place->frame;
		label = symbol = xasprintf("%s+%#" PRIx64, frame, place->symbol_offset);
	}
	if (place->file) {
		snprintf(line, sizeof(line), "%s:%d", basename(place->file), place->line);
		label = line;
	}
	place->label = strings_intern(&decoder->strings, label);
	place->frame = strings_intern(&decoder->strings, frame);
	name_caller(process, place);
	free(symbol);
}

/* The same place in every process and on every host that runs the same file. */
static void key_place(struct decoder *decoder, struct place *place)
{
	char key[1024];

	if (place->module)
		snprintf(key, sizeof(key), "%s %s+%016" PRIx64, place->module,
			 place->build_id ? place->build_id : "", place->offset);
	else
		snprintf(key, sizeof(key), "%016" PRIx64 " %s", place->address, place->reason);
	place->key = strings_intern(&decoder->strings, key);
}

static void find_symbol(const struct capture *capture, struct place *place, uint64_t module)
{
	const uint64_t *found = map_find(&capture->symbols, place->offset, module);
	const struct place *symbol = found ? (const struct place *)(uintptr_t)*found : NULL;

	if (module < capture->modules.len) {
		place->module = capture->modules.data[module].path;
		place->build_id = capture->modules.data[module].build_id;
		place->sort = capture->modules.data[module].sort;
	}
	if (!symbol)
		return;
	place->symbol = symbol->symbol;
	place->demangled = symbol->demangled;
	place->frame = symbol->frame;
	place->symbol_offset = symbol->symbol_offset;
	place->file = symbol->file;
	place->line = symbol->line;
}

void decode_address(struct decoder *decoder, struct capture *capture, const json_t *side)
{
	const uint32_t tgid = (uint32_t)side_u64(side, "tgid");
	struct process *process = process_at(decoder, capture->host, tgid, side_u64(side, "ts"));
	struct place *place = place_new(decoder);
	bool fresh;
	uint64_t *slot;

	if (!process) /* it ended before it could be described */
		process = capture_process(decoder, capture, tgid);
	capture->knows_places = true;
	place->address = side_u64(side, "address");
	place->reason = intern(decoder, side, "reason");
	place->offset = side_u64(side, "offset");
	if (json_object_get(side, "module"))
		find_symbol(capture, place, side_u64(side, "module"));
	if (place->sort == FILE_PROGRAM && !process->exe) /* it ended before it was read */
		process->exe = place->module;
	if (!place->module && !place->reason)
		place->reason = strings_intern(&decoder->strings, "its module is not recorded");
	name_place(decoder, process, place);
	key_place(decoder, place);
	slot = map_insert(&decoder->addresses, place->address, process->id, &fresh);
	if (fresh)
		*slot = (uintptr_t)place;
}

const struct place *decoder_place(struct decoder *decoder, const struct event *event,
				  uint64_t address)
{
	struct place *place;
	uint64_t *slot;
	bool fresh;

	if (!event->capture->knows_places)
		return NULL;
	slot = map_insert(&decoder->addresses, address, event->process->id, &fresh);
	if (!fresh)
		return (const struct place *)(uintptr_t)*slot;
	place = place_new(decoder);
	*slot = (uintptr_t)place;
	place->address = address;
	place->reason = strings_intern(&decoder->strings, "not recorded");
	name_place(decoder, event->process, place);
	key_place(decoder, place);
	return place;
}

void decoded_places_release(struct decoder *decoder)
{
	for (size_t i = 0; i < decoder->places.len; i++)
		free(decoder->places.data[i]);
	vec_release(&decoder->places);
	map_release(&decoder->addresses);
	map_release(&decoder->teams);
}

/* Stacks come in parts, each once per process; calls name them by a number. */

#define PARTS (UB_MAX_DEPTH / UB_STACK_PART)

struct stack_parts {
	struct stack stack; /* the result; key NULL: no record of it yet */
	uint32_t depth, seen; /* seen: one bit per part */
	uint16_t end;
	const struct place *frames[UB_MAX_DEPTH];
};

static struct stack_parts *parts_of(struct decoder *decoder, const struct process *process,
				    uint64_t id)
{
	bool fresh;
	uint64_t *slot = map_insert(&decoder->stacks, id, process->id, &fresh);

	if (fresh)
		*slot = (uintptr_t)xcalloc(1, sizeof(struct stack_parts));
	return (struct stack_parts *)(uintptr_t)*slot;
}

static const char *why_ended(unsigned int end)
{
	static const char *const reasons[] = {
		[UB_STACK_NO_MODULE] = "code of no file, or mapped just before",
		[UB_STACK_NO_ROWS] = "code without unwind information",
		[UB_STACK_RULE] = "a frame of an unusual kind",
		[UB_STACK_UNREADABLE] = "stack memory that is not there",
		[UB_STACK_DEEP] = "more frames than are recorded",
		[UB_STACK_NOT_YET] = "code mapped just before",
		[UB_STACK_LOST] = "a stack that is not in order",
		[UB_STACK_NO_ROOM] = "code whose unwind information found no room",
	};

	if (end == UB_STACK_WHOLE)
		return NULL;
	return end < sizeof(reasons) / sizeof(*reasons) && reasons[end] ? reasons[end] : "unknown";
}

/* Frames from the innermost one to the last before a lost part. */
static int known_depth(const struct stack_parts *parts)
{
	int depth = 0;

	while (depth < (int)parts->depth && parts->seen >> (depth / UB_STACK_PART) & 1 &&
	       parts->frames[depth])
		depth++;
	return depth;
}

static void put_together(struct decoder *decoder, struct stack_parts *parts)
{
	VEC(char) key = { 0 };
	struct stack *stack = &parts->stack;

	stack->frames = parts->frames;
	stack->depth = known_depth(parts);
	stack->end = why_ended(parts->end);
	if (!parts->seen || stack->depth < (int)parts->depth)
		stack->end = "its record was lost";
	for (int i = 0; i < stack->depth; i++) {
		size_t size = strlen(stack->frames[i]->key);

		vec_reserve(&key, key.len + size + 1);
		memcpy(key.data + key.len, stack->frames[i]->key, size);
		key.data[key.len + size] = ';';
		key.len += size + 1;
	}
	for (const char *c = stack->end ? stack->end : "whole"; *c; c++)
		vec_push(&key, *c);
	vec_push(&key, '\0');
	stack->key = strings_intern(&decoder->strings, key.data);
	vec_release(&key);
}

void decode_stack(struct decoder *decoder, const struct event *event, const struct ub_stack *record)
{
	struct stack_parts *parts = parts_of(decoder, event->process, record->id);
	unsigned int part = record->from / UB_STACK_PART;

	if (record->depth > UB_MAX_DEPTH || part >= PARTS || record->from % UB_STACK_PART)
		return;
	parts->depth = record->depth;
	parts->end = record->end;
	parts->seen |= 1u << part;
	for (unsigned int i = 0; i < UB_STACK_PART && record->from + i < record->depth; i++)
		parts->frames[record->from + i] = decoder_place(decoder, event, record->pc[i]);
	put_together(decoder, parts);
}

const struct stack *decoder_stack(struct decoder *decoder, const struct event *event, uint64_t id)
{
	struct stack_parts *parts = parts_of(decoder, event->process, id);

	if (!parts->stack.key)
		put_together(decoder, parts);
	return &parts->stack;
}

/* Files of Fortran bindings (library_stem()), which call MPI for the program. */
static const char *const bindings[] = {
	"libmpi_mpifh",  "libmpi_usempif08", "libmpi_usempi_ignore_tkr",
	"libmpi_usempi", "libmpichfort",     "libmpichf90",
	"libmpifort",
};

static bool is_binding(const struct place *place)
{
	const char *file = place->module ? basename(place->module) : "";
	const size_t length = library_stem(file);

	for (size_t i = 0; i < ARRAY_SIZE(bindings); i++)
		if (!strncmp(file, bindings[i], length) && !bindings[i][length])
			return true;
	return false;
}

const struct place *decoder_call_site(const struct stack *stack)
{
	for (int i = 0; i < stack->depth; i++)
		if (!is_binding(stack->frames[i]))
			return stack->frames[i];
	return NULL;
}

void decoded_stacks_release(struct decoder *decoder)
{
	struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&decoder->stacks, &pos)))
		free((struct stack_parts *)(uintptr_t)slot->value);
	map_release(&decoder->stacks);
}
