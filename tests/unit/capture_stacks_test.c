// SPDX-License-Identifier: BSD-3-Clause
/* The code that walks of stacks know, and how much of it one process or user can ask for. */
#include "file_records.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/deadline.h"
#include "observe/capture/stacks.h"

/* A walk's record that ended at that address. */
static void end_walk(struct stacks *stacks, uint64_t address)
{
	const struct ub_stack stack = { .h = { .kind = UB_STACK, .tgid = (uint32_t)getpid() },
					.depth = 1,
					.end = UB_STACK_NO_MODULE,
					.pc = { address + 1 } };

	stacks_record(stacks, &stack.h);
}

static bool knows(const struct stacks *stacks, uint64_t address)
{
	return code_find(&stacks->processes.data[0].ranges, address);
}

/* With an array in place of the kernel's, and no map of ranges. */
static void stacks_begin(struct stacks *stacks, struct code_files *files)
{
	void *rows = mmap(NULL, KERNEL_ROWS * sizeof(struct ub_row), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(rows, MAP_FAILED);
	*files = (struct code_files){ 0 };
	*stacks = (struct stacks){ .shared = true,
				   .on = true,
				   .rows_fd = -1,
				   .ranges_fd = -1,
				   .rows = rows,
				   .files = files };
}

/* Walks that end nowhere do not make the tracer read a process's mappings again and again. */
static void test_pause(void **state)
{
	struct code_files files;
	struct stacks stacks;
	const uint64_t second = 1000000000;
	uint64_t made;

	(void)state;
	stacks_begin(&stacks, &files);
	stacks_process(&stacks, getpid());
	made = (uintptr_t)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);
	stacks.processes.data[0].next_read = DEADLINE_NONE;
	end_walk(&stacks, made);
	stacks_work(&stacks, second);
	assert_false(knows(&stacks, made));
	stacks.processes.data[0].next_read = 0;
	stacks_work(&stacks, second);
	assert_false(knows(&stacks, made));
	end_walk(&stacks, made);
	stacks_work(&stacks, second);
	assert_true(knows(&stacks, made));
	assert_true(stacks.processes.data[0].next_read > 0);
	munmap((void *)(uintptr_t)made, 4096);
	stacks_release(&stacks);
	code_files_release(&files);
}

#define HOG 1001
#define OTHER 1002

static uint64_t in_libc(void)
{
	return (uintptr_t)qsort;
}

static uint64_t in_program(void)
{
	return (uintptr_t)in_libc;
}

/* The range around an address in the process whose ranges were written last. */
static const struct ub_range *told(const struct stacks *stacks, uint64_t address)
{
	const struct ub_range *range = stacks->scratch.range;

	while (range->end <= address)
		range++;
	assert_true(range->start <= address);
	return range;
}

static void process_of(struct stacks *stacks, pid_t pid, uint32_t owner)
{
	stacks_process(stacks, pid);
	stacks->processes.data[stacks->processes.len - 1].owner = owner;
}

static void holds(struct stacks *stacks, uint32_t owner, uint32_t rows)
{
	*map_insert(&stacks->held, owner, 0, NULL) += rows;
	stacks->used += rows;
}

static uint64_t held(const struct stacks *stacks, uint32_t owner)
{
	const uint64_t *rows = map_find(&stacks->held, owner, 0);

	return rows ? *rows : 0;
}

static pid_t start_child(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* where the test fails */
	pause();
	_exit(0);
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void assert_note(const struct stacks *stacks, const char *text)
{
	char *path = temp_path();
	struct file_writer *writer = must_create(path);
	struct file_reader *reader;
	const json_t *sides;

	stacks_finish(stacks, writer);
	assert_int_equal(file_writer_close(writer, NULL), 0);
	reader = must_open(path);
	sides = file_reader_sides(reader);
	assert_int_equal(json_array_size(sides), text != NULL);
	if (text)
		assert_string_equal(
			json_string_value(json_object_get(json_array_get(sides, 0), "text")), text);
	file_reader_free(reader);
	temp_free(path);
}

/* A user who has a half of all rows gets no more, others get theirs, and then he has these, too. */
static void test_share_of_an_owner(void **state)
{
	const pid_t child = start_child();
	struct code_files files;
	struct stacks stacks;
	char note[100];
	size_t refused;

	(void)state;
	stacks_begin(&stacks, &files);
	holds(&stacks, HOG, KERNEL_ROWS / 2);
	process_of(&stacks, getpid(), HOG);
	stacks_work(&stacks, UINT64_MAX);
	assert_int_equal(held(&stacks, HOG), KERNEL_ROWS / 2);
	assert_int_equal(told(&stacks, in_libc())->count, 0);
	assert_int_equal(told(&stacks, in_libc())->first, UB_STACK_NO_ROOM);
	refused = files.all.len;
	snprintf(note, sizeof(note), "unwinding rows of %zu files found no room: stacks end there",
		 refused);
	assert_note(&stacks, note);

	process_of(&stacks, child, OTHER);
	stacks_work(&stacks, UINT64_MAX);
	assert_true(told(&stacks, in_libc())->count > 1000);
	assert_true(told(&stacks, in_program())->count > 0);
	assert_int_equal(stacks.used, KERNEL_ROWS / 2 + held(&stacks, OTHER));
	assert_note(&stacks, NULL);

	assert_true(stacks.processes.data[0].stale);
	stacks_work(&stacks, UINT64_MAX);
	assert_false(stacks.processes.data[0].stale);
	assert_true(told(&stacks, in_libc())->count > 1000);
	assert_int_equal(held(&stacks, HOG), KERNEL_ROWS / 2);
	end_child(child);
	stacks_release(&stacks);
	code_files_release(&files);
}

static uint32_t rows_of_libc(void)
{
	struct code_files files;
	struct stacks stacks;
	uint32_t count;

	stacks_begin(&stacks, &files);
	process_of(&stacks, getpid(), HOG);
	stacks_work(&stacks, UINT64_MAX);
	count = told(&stacks, in_libc())->count;
	stacks_release(&stacks);
	code_files_release(&files);
	return count;
}

/* A file that is too large for its owner's rest leaves that to the files behind it. */
static void test_share_of_a_file(void **state)
{
	struct code_files files;
	struct stacks stacks;
	const uint32_t count = rows_of_libc();
	uint32_t left;

	(void)state;
	stacks_begin(&stacks, &files);
	holds(&stacks, OTHER, KERNEL_ROWS - 2 * count);
	process_of(&stacks, getpid(), HOG);
	stacks_work(&stacks, UINT64_MAX);
	left = KERNEL_ROWS - stacks.used;
	assert_int_equal(told(&stacks, in_libc())->first, UB_STACK_NO_ROOM);
	assert_true(held(&stacks, HOG) > 0);
	assert_true(held(&stacks, HOG) < left);
	/* it is read to where it found no room, and not again */
	stacks_process(&stacks, getpid());
	stacks.processes.data[0].owner = HOG;
	stacks_work(&stacks, 0);
	assert_false(stacks.processes.data[0].stale);
	stacks_release(&stacks);
	code_files_release(&files);
}

/* Code in mappings beyond the first ones has another reason than code that nobody knows. */
static void test_many_mappings(void **state)
{
	enum { PAGES = 2 * UB_MAX_RANGES, PAGE = 4096 };
	char *pages = mmap(NULL, PAGES * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct code_files files;
	struct stacks stacks;
	const code_ranges *ranges;

	(void)state;
	for (int i = 0; i < PAGES; i += 2)
		assert_int_equal(mprotect(pages + i * PAGE, PAGE, PROT_READ | PROT_EXEC), 0);
	stacks_begin(&stacks, &files);
	process_of(&stacks, getpid(), HOG);
	stacks_work(&stacks, UINT64_MAX);
	ranges = &stacks.processes.data[0].ranges;
	assert_true(ranges->len > UB_MAX_RANGES);
	for (size_t i = 0; i < ranges->len && ranges->data[i].end < UB_NO_RANGE; i++) {
		const struct ub_range *range = told(&stacks, ranges->data[i].start);

		if (i >= UB_MAX_RANGES - 1)
			assert_int_equal(range->first, UB_STACK_NO_ROOM);
		else if (!range->count)
			assert_int_not_equal(range->first, UB_STACK_NO_ROOM);
	}
	stacks_release(&stacks);
	code_files_release(&files);
	munmap(pages, PAGES * PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_share_of_an_owner),
		cmocka_unit_test(test_share_of_a_file),
		cmocka_unit_test(test_many_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
