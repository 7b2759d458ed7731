// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/stacks.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/log.h"
#include "observe/capture/side.h"
#include "observe/process/proc.h"

#define ROWS_BYTES (KERNEL_ROWS * sizeof(struct ub_row))

static struct stacked *find_process(const struct stacks *stacks, pid_t tgid)
{
	for (size_t i = 0; i < stacks->processes.len; i++)
		if (stacks->processes.data[i].tgid == tgid)
			return &stacks->processes.data[i];
	return NULL;
}

static void forget(struct stacks *stacks, pid_t tgid)
{
	struct stacked *process = find_process(stacks, tgid);
	uint32_t key = tgid;

	if (!process)
		return;
	bpf_map_delete_elem(stacks->ranges_fd, &key);
	vec_release(&process->ranges);
	*process = stacks->processes.data[--stacks->processes.len];
}

int stacks_init(struct stacks *stacks, struct kernel *kernel, struct code_files *files, bool shared)
{
	void *rows;

	*stacks = (struct stacks){ .on = true, .files = files, .shared = shared };
	stacks->rows_fd = kernel_map(kernel, "rows");
	stacks->ranges_fd = kernel_map(kernel, "ranges");
	rows = mmap(NULL, ROWS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, stacks->rows_fd, 0);
	if (rows == MAP_FAILED)
		return -errno;
	stacks->rows = rows;
	/* most programs map libc and the like: read their rows before any starts */
	stacks_process(stacks, getpid());
	stacks_work(stacks, UINT64_MAX);
	forget(stacks, getpid());
	return 0;
}

void stacks_release(struct stacks *stacks)
{
	for (size_t i = 0; i < stacks->processes.len; i++)
		vec_release(&stacks->processes.data[i].ranges);
	vec_release(&stacks->processes);
	for (size_t i = 0; i < stacks->tables.len; i++) {
		unwind_close(stacks->tables.data[i].unwind);
		vec_release(&stacks->tables.data[i].rows);
	}
	vec_release(&stacks->tables);
	vec_release(&stacks->wanted);
	map_release(&stacks->held);
	if (stacks->rows)
		munmap(stacks->rows, ROWS_BYTES);
}

static void want(struct stacks *stacks, const struct ub_stack *stack)
{
	unsigned int last = stack->depth - 1;

	if (stack->end != UB_STACK_NO_MODULE && stack->end != UB_STACK_NOT_YET)
		return;
	if (last - stack->from < UB_STACK_PART)
		vec_push(&stacks->wanted,
			 ((struct wanted_code){ stack->h.tgid, stack->pc[last - stack->from] }));
}

static void task_record(struct stacks *stacks, const struct ub_task *task)
{
	bool process_ends = task->what == UB_EXIT && task->h.tid == task->h.tgid;

	if (process_ends || task->what == UB_EXEC)
		forget(stacks, task->h.tgid);
}

void stacks_record(struct stacks *stacks, const struct ub_hdr *record)
{
	if (!stacks->on)
		return;
	if (record->kind == UB_STACK)
		want(stacks, (const struct ub_stack *)record);
	else if (record->kind == UB_TASK)
		task_record(stacks, (const struct ub_task *)record);
}

void stacks_process(struct stacks *stacks, pid_t tgid)
{
	struct stacked *process = find_process(stacks, tgid);
	const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
	const long owner = proc_status_number(tgid, "Uid:");
	code_ranges ranges = { 0 };

	if (owner < 0 || code_list(tgid, stacks->files, &ranges)) {
		vec_release(&ranges);
		return;
	}
	if (!process)
		process = vec_add(&stacks->processes);
	process->next_read = deadline_pause(clock_ns(CLOCK_MONOTONIC) - begin);
	vec_release(&process->ranges);
	process->tgid = tgid;
	process->owner = (uint32_t)owner;
	process->stale = true;
	memcpy(&process->ranges, &ranges, sizeof(ranges));
}

static struct unwind_table *table_of(struct stacks *stacks, const struct code_file *file)
{
	while (stacks->tables.len <= (size_t)file->number)
		vec_add(&stacks->tables);
	return &stacks->tables.data[file->number];
}

/* The most rows that the next file of this owner may take. It only shrinks: no file is read again.
 */
static uint32_t room_for(const struct stacks *stacks, uint32_t owner)
{
	const uint64_t *held = map_find(&stacks->held, owner, 0);
	const uint32_t free = KERNEL_ROWS - stacks->used, has = held ? (uint32_t)*held : 0;

	/* then the owner holds as many as are free */
	const uint32_t share = has < free ? (free - has) / 2 : 0;

	if (!stacks->shared)
		return free;
	return share / 4 * 3; /* the rest is for the next file */
}

/* Whether it has its rows, or this owner cannot get them: then others may. */
static bool is_done(const struct unwind_table *table, uint32_t room)
{
	return table->ready && (!table->lacks || table->lacks > room);
}

/* The kernel sees rows only through ranges, which are written after them. */
static void store_rows(struct stacks *stacks, struct unwind_table *table, uint32_t owner)
{
	const uint32_t count = (uint32_t)table->rows.len;

	table->first = stacks->used;
	table->count = count;
	if (count)
		memcpy(stacks->rows + stacks->used, table->rows.data,
		       count * sizeof(struct ub_row));
	stacks->used += count;
	*map_insert(&stacks->held, owner, 0, NULL) += count;
}

static void refuse(struct stacks *stacks, struct unwind_table *table, const char *path,
		   uint32_t owner)
{
	table->lacks = (uint32_t)table->rows.len;
	log_printf(stacks->warned ? LOG_DEBUG : LOG_WARN,
		   "%s has more unwinding rows than user %u may still take: stacks end there", path,
		   owner);
	stacks->warned = true;
}

/* The file has room now: processes of other users that map it must get its ranges, too. */
static void clear_lack(struct stacks *stacks, struct unwind_table *table)
{
	for (size_t i = 0; table->lacks && i < stacks->processes.len; i++)
		stacks->processes.data[i].stale = true;
	table->lacks = 0;
}

static void end_table(struct stacks *stacks, const struct code_file *file, uint32_t owner, int err)
{
	struct unwind_table *table = table_of(stacks, file);

	if (table->rows.len > room_for(stacks, owner)) {
		refuse(stacks, table, file->path, owner);
	} else {
		clear_lack(stacks, table);
		if (err)
			log_debug("no unwinding rows of %s: %s", file->path, strerror(-err));
		else
			store_rows(stacks, table, owner);
	}
	table->ready = true;
	unwind_close(table->unwind);
	table->unwind = NULL;
	vec_release(&table->rows);
}

/* Goes on with a file for a process of that owner; false: not done by that time. */
static bool read_file(struct stacks *stacks, const struct code_file *file, uint32_t owner,
		      uint64_t until)
{
	struct unwind_table *table = table_of(stacks, file);
	const uint32_t room = room_for(stacks, owner);
	uint64_t now;
	int more = 1, err = 0;

	if (is_done(table, room))
		return true;
	if (!table->unwind)
		err = file->elf ? unwind_open(&table->unwind, file->elf) : file->error;
	if (err)
		more = err;
	while (more > 0 && table->rows.len <= room && (now = clock_ns(CLOCK_MONOTONIC)) < until)
		more = unwind_read(table->unwind, &table->rows, until - now);
	if (more > 0 && table->rows.len <= room)
		return false;
	end_table(stacks, file, owner, more);
	return true;
}

void stacks_file(struct stacks *stacks, const struct code_file *file)
{
	read_file(stacks, file, getuid(), UINT64_MAX);
}

static bool read_range(struct stacks *stacks, const struct stacked *process,
		       const struct code_range *range, uint64_t until)
{
	if (!range->file)
		return true;
	if (!table_of(stacks, range->file)->ready)
		code_file_elf(process->tgid, range);
	return read_file(stacks, range->file, process->owner, until);
}

static unsigned int why_none(const struct unwind_table *table, uint32_t room)
{
	if (!is_done(table, room))
		return UB_STACK_NOT_YET;
	return table->lacks ? UB_STACK_NO_ROOM : UB_STACK_NO_ROWS;
}

static struct ub_range to_range(struct stacks *stacks, uint32_t owner,
				const struct code_range *range)
{
	struct ub_range out = { .start = range->start,
				.end = range->end,
				.first = UB_STACK_NO_MODULE };
	const struct unwind_table *table = range->file ? table_of(stacks, range->file) : NULL;
	uint64_t bias;

	if (!table)
		return out;
	out.first = why_none(table, room_for(stacks, owner));
	if (!table->count || code_bias(range, &bias))
		return out;
	out.bias = bias;
	out.first = table->first;
	out.count = table->count;
	return out;
}

/* The last range covers all further mappings. */
static void end_ranges(struct ub_range *last, pid_t tgid)
{
	log_debug("stacks of process %d end in all but its first %d mappings", tgid,
		  UB_MAX_RANGES - 1);
	*last = (struct ub_range){ last->start, UB_NO_RANGE, .first = UB_STACK_NO_ROOM };
}

static void tell_kernel(struct stacks *stacks, struct stacked *process)
{
	struct ub_process_ranges *all = &stacks->scratch;
	uint32_t key = process->tgid;

	for (size_t i = 0; i < UB_MAX_RANGES; i++)
		all->range[i] = (struct ub_range){ .start = UB_NO_RANGE };
	for (size_t i = 0; i < process->ranges.len && i < UB_MAX_RANGES; i++)
		if (process->ranges.data[i].end < UB_NO_RANGE)
			all->range[i] = to_range(stacks, process->owner, &process->ranges.data[i]);
	if (process->ranges.len > UB_MAX_RANGES)
		end_ranges(&all->range[UB_MAX_RANGES - 1], process->tgid);
	if (bpf_map_update_elem(stacks->ranges_fd, &key, all, BPF_ANY))
		log_debug("stacks of process %d: no room for its mappings", process->tgid);
	process->stale = false;
}

/* True: every file of the process has its rows. */
static bool read_tables(struct stacks *stacks, struct stacked *process, uint64_t until)
{
	for (size_t i = 0; i < process->ranges.len; i++)
		if (!read_range(stacks, process, &process->ranges.data[i], until))
			return false;
	return true;
}

/*
 * A walk reached code that was mapped after the last look, or is still queued. The kernel does not
 * keep where such a walk ended: code that is left out here is wanted again by the next one.
 */
static void read_wanted(struct stacks *stacks, uint64_t until)
{
	for (size_t i = 0; i < stacks->wanted.len && !deadline_over(until); i++) {
		const struct wanted_code *wanted = &stacks->wanted.data[i];
		struct stacked *process = find_process(stacks, wanted->tgid);
		const struct code_range *range;

		if (!process)
			continue;
		if (!code_find(&process->ranges, wanted->address - 1) &&
		    deadline_over(process->next_read))
			stacks_process(stacks, wanted->tgid);
		range = code_find(&process->ranges, wanted->address - 1);
		if (range)
			read_range(stacks, process, range, until);
		process->stale = true;
	}
	stacks->wanted.len = 0;
}

void stacks_work(struct stacks *stacks, uint64_t ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t until = ns > UINT64_MAX - now ? UINT64_MAX : now + ns;

	read_wanted(stacks, until);
	for (size_t i = 0; i < stacks->processes.len; i++) {
		struct stacked *process = &stacks->processes.data[i];
		bool whole;

		if (!process->stale)
			continue;
		whole = read_tables(stacks, process, until);
		tell_kernel(stacks, process);
		process->stale = !whole;
	}
}

void stacks_finish(const struct stacks *stacks, struct file_writer *writer)
{
	size_t lacking = 0;

	for (size_t i = 0; i < stacks->tables.len; i++)
		lacking += stacks->tables.data[i].lacks > 0;
	if (lacking)
		side_write(writer,
			   side_note("unwinding rows of %zu files found no room: stacks end "
				     "there",
				     lacking));
}
