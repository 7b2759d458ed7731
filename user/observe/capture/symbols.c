// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "observe/capture/side.h"
#include "observe/process/code.h"

static json_t *hex(uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%#" PRIx64, value);
	return json_string(text);
}

/* Names in files may hold any bytes, JSON must be UTF-8. */
static void set_text(json_t *record, const char *key, const char *text)
{
	json_t *string = text && *text ? json_string(text) : NULL;

	if (string)
		json_object_set_new(record, key, string);
	else if (text && *text)
		json_object_set_new(record, key, json_string("?"));
}

/* A file that code runs in. */
static json_t *side_module(const struct code_file *file)
{
	json_t *record = json_pack("{s:s, s:i}", "t", "module", "id", file->number);

	set_text(record, "path", file->path);
	set_text(record, "build_id", file->elf ? elf_build_id(file->elf) : NULL);
	set_text(record, "unreadable", file->error ? strerror(-file->error) : NULL);
	return record;
}

static json_t *address_record(pid_t tgid, uint64_t address)
{
	return json_pack("{s:s, s:i, s:o, s:I}", "t", "address", "tgid", (int)tgid, "address",
			 hex(address), "ts", (json_int_t)side_now());
}

/* Where an address of a process lies; and why that is not known. */
static json_t *side_address(pid_t tgid, uint64_t address, int module, uint64_t offset)
{
	json_t *record = address_record(tgid, address);

	json_object_set_new(record, "module", json_integer(module));
	json_object_set_new(record, "offset", hex(offset));
	return record;
}

static json_t *side_unplaced(pid_t tgid, uint64_t address, const char *reason)
{
	json_t *record = address_record(tgid, address);

	set_text(record, "reason", reason);
	return record;
}

/* What a return address in a module is called. */
static json_t *side_symbol(int module, uint64_t offset, const struct symbol *symbol)
{
	json_t *record = json_pack("{s:s, s:i, s:o}", "t", "symbol", "module", module, "offset",
				   hex(offset));

	set_text(record, "symbol", symbol->name);
	if (symbol->name)
		json_object_set_new(record, "symbol_offset", json_integer(symbol->offset));
	set_text(record, "file", symbol->file);
	if (symbol->file)
		json_object_set_new(record, "line", json_integer(symbol->line));
	return record;
}

void places_init(struct places *places, struct file_writer *writer)
{
	*places = (struct places){ .writer = writer };
}

void places_release(struct places *places)
{
	for (size_t i = 0; i < places->processes.len; i++)
		vec_release(&places->processes.data[i].ranges);
	vec_release(&places->processes);
	vec_release(&places->pending);
	vec_release(&places->placed);
	map_release(&places->seen);
	map_release(&places->named);
	map_release(&places->written);
	code_files_release(&places->files);
}

static void notice(struct places *places, pid_t tgid, uint64_t address)
{
	bool fresh;

	map_insert(&places->seen, tgid, address, &fresh);
	if (fresh)
		vec_push(&places->pending, ((struct unplaced){ tgid, address }));
}

static void notice_frames(struct places *places, const struct ub_stack *stack)
{
	for (unsigned int i = 0; i < UB_STACK_PART && stack->from + i < stack->depth; i++)
		notice(places, stack->h.tgid, stack->pc[i]);
}

static struct process_code *find_process(const struct places *places, pid_t tgid)
{
	for (size_t i = 0; i < places->processes.len; i++)
		if (places->processes.data[i].tgid == tgid)
			return &places->processes.data[i];
	return NULL;
}

/* The tgid has a new program, or another process: its addresses mean other things. */
static void forget(struct places *places, pid_t tgid)
{
	struct process_code *code;

	places_apply(places);
	code = find_process(places, tgid);
	if (!code)
		return;
	map_remove_all(&places->seen, tgid);
	vec_release(&code->ranges);
	*code = places->processes.data[--places->processes.len];
}

static void task_record(struct places *places, const struct ub_task *task)
{
	if (task->what == UB_EXEC)
		forget(places, task->h.tgid);
	else if (task->what == UB_FORK)
		forget(places, task->other);
}

void places_record(struct places *places, const struct ub_hdr *record)
{
	if (record->kind == UB_CALL)
		notice(places, record->tgid, ((const struct ub_call *)record)->ret_addr);
	else if (record->kind == UB_STACK)
		notice_frames(places, (const struct ub_stack *)record);
	else if (record->kind == UB_TASK)
		task_record(places, (const struct ub_task *)record);
}

static struct process_code *process_code(struct places *places, pid_t tgid)
{
	struct process_code *code = find_process(places, tgid);

	if (!code)
		code = vec_add(&places->processes);
	code->tgid = tgid;
	return code;
}

/* What was mapped since comes into view by reading again; a process that is gone keeps its last. */
static const struct code_range *find_range(struct places *places, struct process_code *code,
					   uint64_t address, int *error)
{
	const struct code_range *range = code_find(&code->ranges, address);
	code_ranges fresh = { 0 };

	*error = 0;
	if (range)
		return range;
	*error = code_list(code->tgid, &places->files, &fresh);
	if (*error) {
		vec_release(&fresh);
		return NULL;
	}
	vec_release(&code->ranges);
	memcpy(&code->ranges, &fresh, sizeof(fresh));
	return code_find(&code->ranges, address);
}

static const char *why_unplaced(const struct code_range *range, int error)
{
	if (range)
		return "code made at run time";
	if (error == -ESRCH)
		return "its process had ended";
	return error ? "its process could not be looked at" : "nothing is mapped there";
}

static void write_module(struct places *places, const struct code_file *file)
{
	bool fresh;

	map_insert(&places->written, (uint64_t)file->number, 0, &fresh);
	if (fresh)
		side_write(places->writer, side_module(file));
}

static void place(struct places *places, const struct unplaced *unplaced)
{
	int error;
	const struct code_range *range =
		find_range(places, process_code(places, unplaced->tgid), unplaced->address, &error);
	uint64_t vaddr;
	bool fresh;

	if (!range || !range->file) {
		side_write(places->writer, side_unplaced(unplaced->tgid, unplaced->address,
							 why_unplaced(range, error)));
		return;
	}
	code_file_elf(unplaced->tgid, range);
	vaddr = code_vaddr(range, unplaced->address);
	write_module(places, range->file);
	side_write(places->writer,
		   side_address(unplaced->tgid, unplaced->address, range->file->number, vaddr));
	map_insert(&places->named, (uint64_t)range->file->number, vaddr, &fresh);
	if (fresh && range->file->elf)
		vec_push(&places->placed, ((struct placed){ range->file, vaddr }));
}

void places_apply(struct places *places)
{
	for (size_t i = 0; i < places->pending.len; i++)
		place(places, &places->pending.data[i]);
	places->pending.len = 0;
}

/* One file after the other: its debug information is in memory only while it is asked. */
static void name_file(struct places *places, const struct code_file *file)
{
	struct symbols *symbols = NULL;

	for (size_t i = 0; i < places->placed.len; i++) {
		const struct placed *placed = &places->placed.data[i];
		struct symbol symbol;

		if (placed->file != file)
			continue;
		if (!symbols && !(symbols = symbols_open(file->elf, file->path)))
			return;
		symbols_find(symbols, placed->vaddr, &symbol);
		side_write(places->writer, side_symbol(file->number, placed->vaddr, &symbol));
	}
	symbols_free(symbols);
}

void places_finish(struct places *places)
{
	places_apply(places);
	for (size_t i = 0; i < places->files.all.len; i++)
		name_file(places, places->files.all.data[i]);
}
