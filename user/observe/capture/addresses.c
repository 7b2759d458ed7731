// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/addresses.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/deadline.h"
#include "base/order.h"
#include "base/shape.h"
#include "observe/capture/side.h"
#include "observe/process/bounds.h"
#include "observe/process/code.h"
#include "observe/process/record.h"

/* Limit of the mappings kept per process from perf's events: the oldest are dropped. */
#define HEARD_MAX 1024

#define AFTER_END (30ull * 1000000000) /* ns, for records that wait in a ring */

/* A file that code runs in. */
static json_t *side_module(const struct code_file *file)
{
	json_t *record = json_pack("{s:s, s:i}", "t", "module", "id", file->number);
	const bool program = file->elf && elf_is_program(file->elf);

	record_text(record, "path", file->path);
	record_text(record, "build_id", file->elf ? elf_build_id(file->elf) : NULL);
	record_text(record, "unreadable", file->error ? strerror(-file->error) : NULL);
	if (program || (file->elf && !elf_is_executable(file->elf)))
		json_object_set_new(record, "program", json_boolean(program));
	return record;
}

static json_t *address_record(pid_t tgid, uint64_t address)
{
	return json_pack("{s:s, s:i, s:o, s:I}", "t", "address", "tgid", (int)tgid, "address",
			 json_hex(address), "ts", (json_int_t)side_now());
}

/* The module and offset of a process's address, or why they are unknown. */
static json_t *side_address(pid_t tgid, uint64_t address, int module, uint64_t offset)
{
	json_t *record = address_record(tgid, address);

	record_integer(record, "module", module);
	record_hex(record, "offset", offset);
	return record;
}

static json_t *side_unplaced(pid_t tgid, uint64_t address, const char *reason)
{
	json_t *record = address_record(tgid, address);

	record_text(record, "reason", reason);
	return record;
}

#define SYMBOL(name, member, needs)                                                                \
	SHAPE_AS(name, struct symbol, member, SHAPE_WHEN(struct symbol, needs), .optional = true)

static const struct shape symbol_shape[] = {
	SYMBOL("symbol", name, name),
	SYMBOL("symbol_offset", offset, name),
	SYMBOL("file", file, file),
	SYMBOL("line", line, file),
	{ 0 },
};

/* The symbol of a return address in a module. */
static json_t *side_symbol(int module, uint64_t offset, const struct symbol *symbol)
{
	json_t *record = json_pack("{s:s, s:i, s:o}", "t", "symbol", "module", module, "offset",
				   json_hex(offset));

	shape_put(record, symbol_shape, symbol, NULL);
	return record;
}

void addresses_init(struct addresses *addresses, struct file_writer *writer)
{
	*addresses = (struct addresses){ .writer = writer,
					 .quota = { "code addresses", BOUNDS_ADDRESSES } };
}

void addresses_release(struct addresses *addresses)
{
	for (size_t i = 0; i < addresses->processes.len; i++) {
		vec_release(&addresses->processes.data[i].ranges);
		vec_release(&addresses->processes.data[i].heard);
	}
	vec_release(&addresses->processes);
	strays_release(&addresses->strays);
	map_release(&addresses->numbers);
	origins_release(&addresses->origins);
	vec_release(&addresses->ended);
	vec_release(&addresses->pending);
	vec_release(&addresses->placed);
	map_release(&addresses->seen);
	quota_release(&addresses->quota);
	map_release(&addresses->named);
	map_release(&addresses->written);
	code_files_release(&addresses->files);
}

void addresses_notice(struct addresses *addresses, pid_t tgid, uint64_t address, uint64_t time)
{
	if (!address || map_find(&addresses->seen, tgid, address) ||
	    !quota_take(&addresses->quota, tgid))
		return;
	map_insert(&addresses->seen, tgid, address, NULL);
	vec_push(&addresses->pending,
		 ((struct unplaced){ .tgid = tgid, .address = address, .time = time }));
}

static void forget_seen(struct addresses *addresses, pid_t tgid)
{
	map_remove_all(&addresses->seen, tgid);
	quota_forget(&addresses->quota, tgid);
}

static void notice_frames(struct addresses *addresses, const struct ub_stack *stack)
{
	for (unsigned int i = 0; i < UB_STACK_PART && stack->from + i < stack->depth; i++)
		addresses_notice(addresses, stack->h.tgid, stack->pc[i], stack->h.ts);
}

static struct process_code *find_process(const struct addresses *addresses, pid_t tgid)
{
	const uint64_t *number = map_find(&addresses->numbers, tgid, 0);

	return number ? &addresses->processes.data[*number - 1] : NULL;
}

static struct process_code *process_code(struct addresses *addresses, pid_t tgid)
{
	struct process_code *code = find_process(addresses, tgid);

	if (code)
		return code;
	code = vec_add(&addresses->processes);
	*code = (struct process_code){ .tgid = tgid, .since = side_now() };
	*map_insert(&addresses->numbers, tgid, 0, NULL) = addresses->processes.len;
	return code;
}

static int by_start(const void *left, const void *right)
{
	const struct code_range *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

/*
 * Reads the mappings again. Ranges that were unmapped stay unless something else is mapped there:
 * records that name them may still be in a ring. A process that has ended keeps all.
 */
static void read_code(struct addresses *addresses, struct process_code *code)
{
	const uint64_t begin = side_now();
	code_ranges fresh = { 0 };
	const int err = code_list(code->tgid, &addresses->files, &fresh);
	const size_t listed = fresh.len;

	code->read = begin;
	code->next_read = deadline_pause(side_now() - begin);
	code->error = err;
	for (size_t i = 0; !err && i < code->ranges.len; i++) {
		const struct code_range old = code->ranges.data[i];
		const size_t at = search_count(listed, k, fresh.data[k].end <= old.start);

		if (at == listed || fresh.data[at].start >= old.end)
			vec_push(&fresh, old);
	}
	if (err) {
		vec_release(&fresh);
		return;
	}
	if (fresh.len > listed)
		qsort(fresh.data, fresh.len, sizeof(*fresh.data), by_start);
	vec_release(&code->ranges);
	memcpy(&code->ranges, &fresh, sizeof(fresh));
}

void addresses_process(struct addresses *addresses, pid_t tgid)
{
	read_code(addresses, process_code(addresses, tgid));
}

static bool is_same(const struct code_range *a, const struct code_range *b)
{
	return a->start == b->start && a->end == b->end && a->file == b->file;
}

void addresses_mapped(struct addresses *addresses, pid_t tgid, const struct mapping *mapping,
		      uint64_t time)
{
	struct heard_range heard = { .time = time };
	struct process_code *code;
	size_t kept = 0;

	if (!mapping->executable || !mapping->ino)
		return;
	heard.range = code_range_of(&addresses->files, mapping);
	code = process_code(addresses, tgid);
	for (size_t i = 0; i < code->heard.len; i++) {
		const struct heard_range *old = &code->heard.data[i];

		if (!is_same(&old->range, &heard.range))
			code->heard.data[kept++] = *old;
		else if (old->time > heard.time)
			heard.time = old->time;
	}
	code->heard.len = kept;
	if (kept == HEARD_MAX)
		memmove(code->heard.data, code->heard.data + 1,
			--code->heard.len * sizeof(*code->heard.data));
	/* mappings of strays (strays.h), and events of other CPUs, come out of order */
	vec_push(&code->heard, heard);
	for (size_t i = code->heard.len - 1; i && code->heard.data[i - 1].time > heard.time; i--) {
		code->heard.data[i] = code->heard.data[i - 1];
		code->heard.data[i - 1] = heard;
	}
}

static const struct code_range *find_heard(const struct process_code *code, uint64_t address)
{
	for (size_t i = code->heard.len; i-- > 0;) {
		const struct code_range *range = &code->heard.data[i].range;

		if (range->start <= address && address < range->end)
			return range;
	}
	return NULL;
}

static void take_stray(void *arg, pid_t tgid, const struct mapping *mapping, uint64_t time)
{
	addresses_mapped(arg, tgid, mapping, time);
}

/* Searches the mappings that are known already. code NULL: there are none. */
static const struct code_range *find_known(const struct process_code *code, uint64_t address)
{
	const struct code_range *range = code ? code_find(&code->ranges, address) : NULL;

	return range || !code ? range : find_heard(code, address);
}

/* A search for the code at an address: in its process, then in the ancestors. */
struct code_search {
	const struct unplaced *unplaced;
	uint64_t deadline;
	uint64_t next; /* mappings were not read, but may be at that time; 0: all were */
	int error; /* of reading those of the process itself */
};

/* Mappings that were read since the record was made need not be read again for it. */
static const struct code_range *find_own(struct addresses *addresses, pid_t tgid,
					 struct code_search *search)
{
	const uint64_t address = search->unplaced->address;
	struct process_code *code = process_code(addresses, tgid);
	const struct code_range *range = code_find(&code->ranges, address);
	bool late = false;

	if (!range && (!code->read || code->read <= search->unplaced->time)) {
		late = side_now() < code->next_read || deadline_over(search->deadline);
		if (!late)
			read_code(addresses, code);
		range = code_find(&code->ranges, address);
	}
	if (!range && !late)
		strays_take(&addresses->strays, tgid, take_stray, addresses);
	range = range ? range : find_heard(code, address);
	if (!range && late && (!search->next || code->next_read < search->next))
		search->next = code->next_read ? code->next_read : 1;
	if (tgid == search->unplaced->tgid)
		search->error = range ? 0 : code->error;
	return range;
}

#define FORKS_MOST 8 /* generations to look through */

/* A forked process has its parent's mappings, for which no mmap event comes. */
static const struct code_range *find_range(struct addresses *addresses, struct code_search *search)
{
	const pid_t tgid = search->unplaced->tgid;
	const struct code_range *range = find_own(addresses, tgid, search);
	pid_t parent = origins_parent(&addresses->origins, tgid);

	for (int i = 0; !range && parent && i < FORKS_MOST; i++) {
		range = find_own(addresses, parent, search);
		parent = origins_parent(&addresses->origins, parent);
	}
	return range;
}

/* As find_range(), without a look, of a process forked by that one or by its children. */
static const struct code_range *find_inherited(const struct addresses *addresses, pid_t tgid,
					       pid_t from, uint64_t address)
{
	const struct code_range *range = NULL;

	for (int i = 0; tgid && i <= FORKS_MOST; i++) {
		range = range ? range : find_known(find_process(addresses, tgid), address);
		if (tgid == from)
			return range;
		tgid = origins_parent(&addresses->origins, tgid);
	}
	return NULL;
}

static const char *why_unplaced(const struct code_range *range, int error, bool late)
{
	if (range)
		return "code made at run time";
	if (late)
		return "its process's mappings were not read in time";
	if (error == -ESRCH)
		return "its process had ended";
	return error ? "its process could not be looked at" : "nothing is mapped there";
}

static void write_module(struct addresses *addresses, const struct code_file *file)
{
	bool fresh;

	map_insert(&addresses->written, (uint64_t)file->number, 0, &fresh);
	if (fresh)
		side_write(addresses->writer, side_module(file));
}

static void place_in(struct addresses *addresses, const struct unplaced *unplaced,
		     const struct code_range *range, int error, bool late)
{
	uint64_t vaddr;
	bool fresh;

	if (!range || !range->file) {
		side_write(addresses->writer, side_unplaced(unplaced->tgid, unplaced->address,
							    why_unplaced(range, error, late)));
		return;
	}
	code_file_elf(unplaced->tgid, range);
	vaddr = code_vaddr(range, unplaced->address);
	write_module(addresses, range->file);
	side_write(addresses->writer,
		   side_address(unplaced->tgid, unplaced->address, range->file->number, vaddr));
	if (addresses->nameless)
		return;
	map_insert(&addresses->named, (uint64_t)range->file->number, vaddr, &fresh);
	if (fresh && range->file->elf)
		vec_push(&addresses->placed, ((struct placed_address){ range->file, vaddr }));
}

/* Finds the module and offset of the address in any process, or the reason why they are unknown. */
static void place(struct addresses *addresses, const struct unplaced *unplaced, uint64_t deadline)
{
	struct code_search search = { .unplaced = unplaced, .deadline = deadline };
	const struct code_range *range = find_range(addresses, &search);

	place_in(addresses, unplaced, range, search.error, search.next > 0);
}

/* False: the address is not found, and will be tried again. */
static bool try_place(struct addresses *addresses, struct unplaced *unplaced, uint64_t deadline)
{
	struct code_search search = { .unplaced = unplaced, .deadline = deadline };
	const struct code_range *range = find_range(addresses, &search);

	if (range || (unplaced->asked && !search.next)) {
		place_in(addresses, unplaced, range, search.error, false);
		return true;
	}
	unplaced->next = search.next;
	unplaced->asked |= !search.next;
	return false;
}

/* A process that has got the same pid since keeps its code. */
static void forget_code(struct addresses *addresses, const struct ended_process *ended)
{
	struct process_code *code = find_process(addresses, ended->tgid);

	if (!code || code->since > ended->time)
		return;
	forget_seen(addresses, ended->tgid);
	vec_release(&code->ranges);
	vec_release(&code->heard);
	map_remove(&addresses->numbers, ended->tgid, 0);
	addresses->unswept = true;
	*code = addresses->processes.data[--addresses->processes.len];
	if (code < addresses->processes.data + addresses->processes.len)
		*map_find(&addresses->numbers, code->tgid, 0) =
			(uint64_t)(code - addresses->processes.data) + 1;
}

static void forget_ended(struct addresses *addresses)
{
	const uint64_t now = side_now();
	struct map gone = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < addresses->ended.len; i++) {
		const struct ended_process ended = addresses->ended.data[i];

		if (now - ended.time < AFTER_END) {
			addresses->ended.data[kept++] = ended;
			continue;
		}
		forget_code(addresses, &ended);
		if (origins_end(&addresses->origins, ended.tgid, ended.time))
			map_insert(&gone, (uint64_t)ended.tgid, 0, NULL);
	}
	addresses->ended.len = kept;
	origins_end_parents(&addresses->origins, &gone);
	map_release(&gone);
}

/*
 * A forked process has its parent's code. The record of its fork may lie in a ring that is drained
 * later. Addresses that had no turn come first the next time, so that those of one process cannot
 * hold up all others.
 */
void addresses_apply(struct addresses *addresses, uint64_t deadline)
{
	VEC(struct unplaced) later = { 0 };
	const uint64_t now = side_now();
	size_t done;

	for (done = 0; done < addresses->pending.len && !deadline_over(deadline); done++) {
		struct unplaced unplaced = addresses->pending.data[done];

		if (now < unplaced.next || !try_place(addresses, &unplaced, deadline))
			vec_push(&later, unplaced);
	}
	vec_requeue(&addresses->pending, done, &later);
	forget_ended(addresses);
}

/*
 * Places the addresses of records before that time. Others wait until mappings are read: a process
 * that has ended is known by those alone, or by the fork that comes next.
 */
static void place_pending_of(struct addresses *addresses, pid_t tgid, uint64_t before)
{
	size_t kept = 0;

	for (size_t i = 0; i < addresses->pending.len; i++) {
		const struct unplaced unplaced = addresses->pending.data[i];

		if (unplaced.tgid == tgid && unplaced.time < before)
			place(addresses, &unplaced, DEADLINE_NONE);
		else
			addresses->pending.data[kept++] = unplaced;
	}
	addresses->pending.len = kept;
}

/* The process begins another program. The processes that it forked still run the old one. */
static void place_inherited(struct addresses *addresses, pid_t tgid)
{
	size_t kept = 0;

	for (size_t i = 0; i < addresses->pending.len; i++) {
		const struct unplaced unplaced = addresses->pending.data[i];
		const struct code_range *range =
			unplaced.tgid == tgid
				? NULL
				: find_inherited(addresses, unplaced.tgid, tgid, unplaced.address);

		if (range)
			place_in(addresses, &unplaced, range, 0, false);
		else
			addresses->pending.data[kept++] = unplaced;
	}
	addresses->pending.len = kept;
}

static void execs(struct addresses *addresses, pid_t tgid, uint64_t time)
{
	place_inherited(addresses, tgid);
	origins_exec(&addresses->origins, tgid, time);
}

void addresses_exec(struct addresses *addresses, pid_t tgid, uint64_t time)
{
	execs(addresses, tgid, time);
	strays_exec(&addresses->strays, tgid, time);
	process_code(addresses, tgid)->execed = time;
}

/*
 * Since then the pid has had a new program or belongs to another process, so its addresses mean
 * other things. That does not hold if the process was first looked at later, because this record
 * had to wait in its ring.
 */
static void forget(struct addresses *addresses, pid_t tgid, uint64_t since)
{
	struct process_code *code;
	size_t kept = 0;
	uint64_t begun;

	place_pending_of(addresses, tgid, since);
	code = find_process(addresses, tgid);
	if (!code || code->since > since)
		return;
	begun = code->execed && code->execed < since ? code->execed : since;
	if (code->execed < since) /* else it is of the next exec, whose record is still to come */
		code->execed = 0;
	forget_seen(addresses, tgid);
	vec_release(&code->ranges);
	code->read = code->next_read = 0;
	for (size_t i = 0; i < code->heard.len; i++)
		if (code->heard.data[i].time > begun)
			code->heard.data[kept++] = code->heard.data[i];
	code->heard.len = kept;
	code->since = since + 1;
}

void addresses_ended(struct addresses *addresses, pid_t tgid, uint64_t time)
{
	vec_push(&addresses->ended, ((struct ended_process){ tgid, time }));
}

static void task_record(struct addresses *addresses, const struct ub_task *task)
{
	if (task->what == UB_EXEC) {
		execs(addresses, task->h.tgid, task->h.ts);
		forget(addresses, task->h.tgid, task->h.ts);
	} else if (task->what == UB_FORK) {
		forget(addresses, task->other, task->h.ts);
		strays_exec(&addresses->strays, task->other, task->h.ts);
		origins_fork(&addresses->origins, task->other, task->h.tgid, task->h.ts);
	} else if (task->what == UB_EXIT)
		addresses_ended(addresses, task->h.tgid, task->h.ts);
}

void addresses_record(struct addresses *addresses, const struct ub_hdr *record)
{
	if (record->kind == UB_CALL || record->kind == UB_POLLS)
		addresses_notice(addresses, record->tgid,
				 ((const struct ub_call *)record)->ret_addr, record->ts);
	else if (record->kind == UB_OP)
		addresses_notice(addresses, record->tgid,
				 ub_op_caller((const struct ub_op *)record), record->ts);
	else if (record->kind == UB_STACK)
		notice_frames(addresses, (const struct ub_stack *)record);
	else if (record->kind == UB_TASK)
		task_record(addresses, (const struct ub_task *)record);
}

/* ---- files ---- */

static void use(struct map *used, const struct code_range *range)
{
	if (range->file)
		map_insert(used, (uint64_t)range->file->number, 0, NULL);
}

void addresses_sweep(struct addresses *addresses)
{
	struct map used = { 0 };
	struct map_slot *slot;
	size_t at = 0;

	if (!addresses->unswept)
		return;
	addresses->unswept = false;
	for (size_t i = 0; i < addresses->processes.len; i++) {
		const struct process_code *code = &addresses->processes.data[i];

		for (size_t k = 0; k < code->ranges.len; k++)
			use(&used, &code->ranges.data[k]);
		for (size_t k = 0; k < code->heard.len; k++)
			use(&used, &code->heard.data[k].range);
	}
	for (size_t i = 0; i < addresses->placed.len; i++)
		map_insert(&used, (uint64_t)addresses->placed.data[i].file->number, 0, NULL);
	code_files_keep(&addresses->files, &used);
	while ((slot = map_next(&addresses->written, &at)))
		if (!map_find(&used, slot->a, 0))
			map_remove(&addresses->written, slot->a, 0);
	map_release(&used);
}

void addresses_rewritten(struct addresses *addresses, const struct map *keys)
{
	code_files_rewritten(&addresses->files, keys);
}

bool addresses_has_module(const struct addresses *addresses, uint64_t number)
{
	return map_find(&addresses->written, number, 0);
}

/* One file at a time, since its debug information stays in memory during the lookup only. */
static void name_file(struct addresses *addresses, const struct code_file *file)
{
	struct symbols *symbols = NULL;

	for (size_t i = 0; i < addresses->placed.len; i++) {
		const struct placed_address *placed = &addresses->placed.data[i];
		struct symbol symbol;

		if (placed->file != file || file->rewritten)
			continue;
		if (!symbols && !(symbols = symbols_open(file->elf, file->path)))
			return;
		symbols_find(symbols, placed->vaddr, &symbol);
		side_write(addresses->writer, side_symbol(file->number, placed->vaddr, &symbol));
	}
	symbols_free(symbols);
}

/* The job no longer pays for it: the mappings of each process are read once more. */
static void place_last(struct addresses *addresses, uint64_t deadline)
{
	for (size_t i = 0; i < addresses->processes.len; i++)
		addresses->processes.data[i].next_read = 0;
	for (size_t i = 0; i < addresses->pending.len; i++)
		place(addresses, &addresses->pending.data[i], deadline);
	addresses->pending.len = 0;
}

void addresses_finish(struct addresses *addresses, uint64_t deadline)
{
	place_last(addresses, deadline);
	quota_note(&addresses->quota, addresses->writer);
	for (size_t i = 0; i < addresses->files.all.len; i++)
		name_file(addresses, addresses->files.all.data[i]);
}
