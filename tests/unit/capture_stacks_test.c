// SPDX-License-Identifier: BSD-3-Clause
/* The code that walks of stacks know, and how much of it one process can ask for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

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
	*stacks = (struct stacks){
		.on = true, .rows_fd = -1, .ranges_fd = -1, .rows = rows, .files = files
	};
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
