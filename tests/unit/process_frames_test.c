// SPDX-License-Identifier: BSD-3-Clause
/* Stacks of threads of another process, which runs, sleeps or is stopped; nobody stops it for us.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "observe/process/frames.h"

/* Kept apart, with a call behind it: no tail call, so that each has a frame. */
#define FRAME __attribute__((noinline, noclone, noipa))

static volatile uint64_t *turns; /* shared with the child: above 0 once it is where it stays */

FRAME static void spin(void)
{
	for (;;)
		++*turns;
}

FRAME static void nap(void)
{
	++*turns;
	for (;;)
		pause();
}

FRAME static void outer(void (*inner)(void))
{
	inner();
	++*turns;
}

static pid_t start(void (*inner)(void))
{
	pid_t pid;

	turns = mmap(NULL, sizeof(*turns), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	assert_ptr_not_equal((void *)turns, MAP_FAILED);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		outer(inner);
		_exit(0);
	}
	while (!*turns)
		usleep(1000);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	munmap((void *)turns, sizeof(*turns));
}

/* Whether some frame but the innermost returns into a function. */
static bool returns_into(const frame_list *frames, void *function)
{
	const uint64_t from = (uintptr_t)function;

	for (size_t i = 1; i < frames->len; i++)
		if (frames->data[i].pc > from && frames->data[i].pc < from + 64)
			return true;
	return false;
}

/* Looks until the thread is in a state, for it takes a moment to get there. */
static void look(pid_t pid, char state, bool bp_known, thread_list *threads)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + 20000000000ull;

	do {
		threads_release(threads);
		assert_int_equal(threads_list(threads, pid, 8), 0);
		assert_int_equal(threads->len, 1);
		threads_registers(threads, 1000);
	} while ((threads->data[0].state != state || !threads->data[0].known ||
		  threads->data[0].bp_known != bp_known) &&
		 clock_ns(CLOCK_MONOTONIC) < until);
	assert_int_equal(threads->data[0].state, state);
	assert_true(threads->data[0].known);
}

static void expect_outer(pid_t pid, char state, bool bp_known)
{
	struct code_files files = { 0 };
	struct unwinds unwinds = { 0 };
	thread_list threads = { 0 };
	frame_list frames = { 0 };
	code_ranges ranges = { 0 };

	look(pid, state, bp_known, &threads);
	assert_int_equal(code_list(pid, &files, &ranges), 0);
	assert_int_equal(threads.data[0].bp_known, bp_known);
	assert_int_equal(frames_walk(&frames, &threads.data[0], &ranges, &unwinds), UB_STACK_WHOLE);
	assert_true(returns_into(&frames, outer));
	/* each frame lies above the one that it called */
	for (size_t i = 1; i + 1 < frames.len; i++)
		assert_true(frames.data[i].base > frames.data[i - 1].base);
	vec_release(&ranges);
	vec_release(&frames);
	threads_release(&threads);
	unwinds_release(&unwinds);
	code_files_release(&files);
}

static void test_sleeps(void **state)
{
	pid_t pid = start(nap);

	(void)state;
	expect_outer(pid, 'S', false);
	end(pid);
}

static void test_runs(void **state)
{
	pid_t pid = start(spin);

	(void)state;
	if (geteuid()) {
		end(pid);
		skip();
	}
	expect_outer(pid, 'R', true);
	end(pid);
}

static void test_stopped(void **state)
{
	pid_t pid = start(spin);

	(void)state;
	kill(pid, SIGSTOP);
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	expect_outer(pid, 'T', false);
	/* it stays as it was: stopped by whoever stopped it, and not by the look */
	assert_int_equal(kill(pid, SIGCONT), 0);
	if (!geteuid())
		expect_outer(pid, 'R', true);
	end(pid);
}

static void test_gone(void **state)
{
	thread_list threads = { 0 };
	pid_t pid = start(nap);

	(void)state;
	assert_int_equal(threads_list(&threads, pid, 8), 0);
	end(pid);
	threads_registers(&threads, 10);
	assert_int_equal(threads.data[0].state, 0);
	assert_false(threads.data[0].known);
	threads_release(&threads);
	assert_int_equal(threads_list(&threads, pid, 8), -ESRCH);
}

/* Garbage in the registers ends a walk with a reason, at once. */
static void test_garbage(void **state)
{
	struct thread_registers thread = { .pid = getpid(), .pc = 1, .sp = 8, .known = true };
	struct code_files files = { 0 };
	struct unwinds unwinds = { 0 };
	frame_list frames = { 0 };
	code_ranges ranges = { 0 };

	(void)state;
	assert_int_equal(code_list(getpid(), &files, &ranges), 0);
	assert_int_equal(frames_walk(&frames, &thread, &ranges, &unwinds), UB_STACK_NO_MODULE);
	assert_int_equal(frames.len, 1);
	thread.pc = (uintptr_t)outer + 8;
	assert_int_not_equal(frames_walk(&frames, &thread, &ranges, &unwinds), UB_STACK_WHOLE);
	vec_release(&ranges);
	vec_release(&frames);
	unwinds_release(&unwinds);
	code_files_release(&files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sleeps),  cmocka_unit_test(test_runs),
		cmocka_unit_test(test_stopped), cmocka_unit_test(test_gone),
		cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
