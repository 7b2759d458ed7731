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

int stacks_init(struct stacks *stacks, struct kernel *kernel, struct code_files *files)
{
	void *rows;

	*stacks = (struct stacks){ .on = true, .files = files };
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
	code_ranges ranges = { 0 };

	if (code_list(tgid, stacks->files, &ranges)) {
		vec_release(&ranges);
		return;
	}
	if (!process)
		process = vec_add(&stacks->processes);
	process->next_read = deadline_pause(clock_ns(CLOCK_MONOTONIC) - begin);
	vec_release(&process->ranges);
	process->tgid = tgid;
	process->stale = true;
	memcpy(&process->ranges, &ranges, sizeof(ranges));
}

static struct unwind_table *table_of(struct stacks *stacks, const struct code_file *file)
{
	while (stacks->tables.len <= (size_t)file->number)
		vec_add(&stacks->tables);
	return &stacks->tables.data[file->number];
}

/* The kernel sees rows only through ranges, which are written after them. */
static void store_rows(struct stacks *stacks, struct unwind_table *table)
{
	size_t count = table->rows.len;

	if (count > KERNEL_ROWS - stacks->used) {
		if (!stacks->full)
			log_warn("no room for more unwinding rows: some stacks will end early");
		stacks->full = true;
		return;
	}
	table->first = stacks->used;
	table->count = count;
	if (count)
		memcpy(stacks->rows + stacks->used, table->rows.data,
		       count * sizeof(struct ub_row));
	stacks->used += count;
}

static void end_table(struct stacks *stacks, const struct code_file *file, int err)
{
	struct unwind_table *table = table_of(stacks, file);

	if (err)
		log_debug("no unwinding rows of %s: %s", file->path, strerror(-err));
	else
		store_rows(stacks, table);
	table->ready = true;
	unwind_close(table->unwind);
	table->unwind = NULL;
	vec_release(&table->rows);
}

/* Goes on with a file; false: not done by that time. */
static bool read_file(struct stacks *stacks, const struct code_file *file, uint64_t until)
{
	struct unwind_table *table = table_of(stacks, file);
	uint64_t now;
	int more = 1, err = 0;

	if (table->ready)
		return true;
	if (!table->unwind)
		err = file->elf ? unwind_open(&table->unwind, file->elf) : file->error;
	if (err)
		more = err;
	while (more > 0 && (now = clock_ns(CLOCK_MONOTONIC)) < until)
		more = unwind_read(table->unwind, &table->rows, until - now);
	if (more > 0)
		return false;
	end_table(stacks, file, more);
	return true;
}

void stacks_file(struct stacks *stacks, const struct code_file *file)
{
	read_file(stacks, file, UINT64_MAX);
}

static bool read_range(struct stacks *stacks, pid_t tgid, const struct code_range *range,
		       uint64_t until)
{
	if (!range->file || table_of(stacks, range->file)->ready)
		return true;
	code_file_elf(tgid, range);
	return read_file(stacks, range->file, until);
}

static struct ub_range to_range(struct stacks *stacks, const struct code_range *range)
{
	struct ub_range out = { .start = range->start,
				.end = range->end,
				.first = UB_STACK_NO_MODULE };
	const struct unwind_table *table = range->file ? table_of(stacks, range->file) : NULL;
	uint64_t bias;

	if (!table)
		return out;
	out.first = table->ready ? UB_STACK_NO_ROWS : UB_STACK_NOT_YET;
	if (!table->count || code_bias(range, &bias))
		return out;
	out.bias = bias;
	out.first = table->first;
	out.count = table->count;
	return out;
}

static void tell_kernel(struct stacks *stacks, struct stacked *process)
{
	struct ub_process_ranges *all = &stacks->scratch;
	uint32_t key = process->tgid;

	for (size_t i = 0; i < UB_MAX_RANGES; i++)
		all->range[i] = (struct ub_range){ .start = UB_NO_RANGE };
	for (size_t i = 0; i < process->ranges.len && i < UB_MAX_RANGES; i++)
		if (process->ranges.data[i].end < UB_NO_RANGE)
			all->range[i] = to_range(stacks, &process->ranges.data[i]);
	if (process->ranges.len > UB_MAX_RANGES)
		log_debug("stacks of process %d end in all but its first %d mappings",
			  process->tgid, UB_MAX_RANGES);
	if (bpf_map_update_elem(stacks->ranges_fd, &key, all, BPF_ANY))
		log_debug("stacks of process %d: no room for its mappings", process->tgid);
	process->stale = false;
}

/* True: every file of the process has its rows. */
static bool read_tables(struct stacks *stacks, struct stacked *process, uint64_t until)
{
	for (size_t i = 0; i < process->ranges.len; i++)
		if (!read_range(stacks, process->tgid, &process->ranges.data[i], until))
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
		    deadline_over(process->next_read)) {
			stacks_process(stacks, wanted->tgid);
			process = find_process(stacks, wanted->tgid);
		}
		range = code_find(&process->ranges, wanted->address - 1);
		if (range)
			read_range(stacks, wanted->tgid, range, until);
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
