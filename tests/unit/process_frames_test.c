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
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/deadline.h"
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

#ifdef __x86_64__
/*
 * Places where a thread of an MPI library often is: behind an epilogue's pop of %rbp, of which GCC
 * writes nothing in .eh_frame, and in a PLT entry before and behind its push (ld's one rule for
 * both: DW_OP_breg7 8, breg16 0, lit15, and, lit11, ge, lit3, shl, plus).
 */
#define PLT_RULE                                                                                   \
	".cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22\n"

void in_epilogue(void), in_plt(void), in_plt_pushed(void);

__asm__(".text\n"
	".globl in_epilogue, in_plt, in_plt_pushed\n"
	"in_epilogue:\n"
	".cfi_startproc\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"mov $1, %ebp\n"
	"pop %rbp\n"
	".cfi_def_cfa_offset 8\n"
	"1: jmp 1b\n"
	".cfi_endproc\n"
	".balign 16\n"
	"in_plt:\n"
	".cfi_startproc\n" PLT_RULE "1: jmp 1b\n"
	".balign 16\n"
	"in_plt_pushed:\n"
	"jmp 1f\n"
	".skip 4, 0x90\n"
	"1: push $0x12345678\n"
	"1: jmp 1b\n"
	".balign 16\n"
	".cfi_endproc\n");

FRAME static void stay_in_epilogue(void)
{
	++*turns;
	in_epilogue();
	++*turns;
}

FRAME static void stay_in_plt(void)
{
	++*turns;
	in_plt();
	++*turns;
}

FRAME static void stay_in_plt_pushed(void)
{
	++*turns;
	in_plt_pushed();
	++*turns;
}
#endif

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

struct looking {
	pid_t pid;
	char state; /* as it was seen, */
	bool known, bp_known, unmoved; /* also after a signal, where one is sent */
	uint64_t at;
	int signal;
	enum ub_stack_end end;
	bool in_outer, in_order;
};

/* The stack is walked here, since it is released when this returns. */
static void seen(void *arg, struct thread_registers *thread)
{
	struct looking *looking = arg;
	struct code_files files = { 0 };
	struct unwinds unwinds = { .deadline = DEADLINE_NONE };
	frame_list frames = { 0 };
	code_ranges ranges = { 0 };

	looking->state = thread->state;
	looking->known = thread->known;
	looking->bp_known = thread->bp_known;
	looking->at = thread->at;
	if (!thread->known)
		return;
	assert_int_equal(code_list(looking->pid, &files, &ranges), 0);
	looking->end = frames_walk(&frames, thread, &ranges, &unwinds);
	looking->in_outer = returns_into(&frames, outer);
	looking->in_order = true;
	/* each frame lies above the one that it called */
	for (size_t i = 1; i + 1 < frames.len; i++)
		looking->in_order =
			looking->in_order && frames.data[i].base > frames.data[i - 1].base;
	if (looking->signal) {
		const uint64_t turns_before = *turns;

		kill(looking->pid, looking->signal);
		while (*turns == turns_before)
			usleep(1000);
	}
	looking->unmoved = thread_unmoved(thread);
	vec_release(&ranges);
	vec_release(&frames);
	unwinds_release(&unwinds);
	code_files_release(&files);
}

/* Looks until the thread is in a state, for it takes a moment to get there. */
static void look(struct looking *looking, char state, bool bp_known)
{
	const uint64_t until = clock_ns(CLOCK_MONOTONIC) + 20000000000ull;
	uint64_t before;

	do {
		thread_list threads = { 0 };

		before = clock_ns(CLOCK_MONOTONIC);
		assert_int_equal(threads_list(&threads, looking->pid, 8), 0);
		assert_int_equal(threads.len, 1);
		threads_registers(&threads, 1000, seen, looking);
		threads_release(&threads);
	} while ((looking->state != state || !looking->known || looking->bp_known != bp_known) &&
		 clock_ns(CLOCK_MONOTONIC) < until);
	assert_int_equal(looking->state, state);
	assert_int_equal(looking->bp_known, bp_known);
	assert_true(looking->known);
	assert_true(looking->at >= before && looking->at <= clock_ns(CLOCK_MONOTONIC));
}

static void expect_outer(pid_t pid, char state, bool bp_known)
{
	struct looking looking = { .pid = pid };

	look(&looking, state, bp_known);
	assert_int_equal(looking.end, UB_STACK_WHOLE);
	assert_true(looking.in_outer && looking.in_order && looking.unmoved);
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

#ifdef __x86_64__
static void test_between(void **state)
{
	static void (*const places[])(void) = { stay_in_epilogue, stay_in_plt, stay_in_plt_pushed };

	(void)state;
	if (geteuid())
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		pid_t pid = start(places[i]);

		/* turns is above 0 just before it is there */
		usleep(10000);
		expect_outer(pid, 'R', true);
		end(pid);
	}
}
#endif

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

static void on_signal(int number)
{
	(void)number;
}

FRAME static void nap_again(void)
{
	signal(SIGUSR1, on_signal);
	for (;;) {
		++*turns;
		pause();
	}
}

/* It sleeps again, in the same place: its memory has changed since its registers were read. */
static void test_woken(void **state)
{
	struct looking looking = { .pid = start(nap_again), .signal = SIGUSR1 };

	(void)state;
	look(&looking, 'S', false);
	assert_false(looking.unmoved);
	end(looking.pid);
}

#define MANY 20

struct count {
	size_t known, all;
	int highest; /* descriptor in use */
};

static void count(void *arg, struct thread_registers *thread)
{
	struct count *counts = arg;
	int fd = dup(0);

	counts->known += thread->known;
	counts->all++;
	counts->highest = fd > counts->highest ? fd : counts->highest;
	close(fd);
}

/* More threads run than there may be descriptors. */
static void test_few_files(void **state)
{
	struct rlimit limit, few;
	thread_list threads = { 0 };
	struct count counts = { 0 };
	pid_t pids[MANY];

	(void)state;
	if (geteuid())
		skip();
	for (int i = 0; i < MANY; i++)
		pids[i] = start(spin);
	getrlimit(RLIMIT_NOFILE, &limit);
	few = limit;
	few.rlim_cur = 40;
	setrlimit(RLIMIT_NOFILE, &few);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(threads_list(&threads, pids[i], 8), 0);
	threads_registers(&threads, 60000, count, &counts);
	setrlimit(RLIMIT_NOFILE, &limit);
	threads_release(&threads);
	for (int i = 0; i < MANY; i++)
		end(pids[i]);
	assert_int_equal(counts.all, MANY);
	assert_int_equal(counts.known, MANY);
	/* 32 are left to others */
	assert_true(counts.highest <= 40 - 32);
}

static void test_gone(void **state)
{
	thread_list threads = { 0 };
	pid_t pid = start(nap);
	struct looking looking = { .pid = pid };

	(void)state;
	assert_int_equal(threads_list(&threads, pid, 8), 0);
	end(pid);
	threads_registers(&threads, 10, seen, &looking);
	assert_int_equal(looking.state, 0);
	assert_false(looking.known);
	threads_release(&threads);
	assert_int_equal(threads_list(&threads, pid, 8), -ESRCH);
}

/* Garbage in the registers ends a walk with a reason, at once. */
static void test_garbage(void **state)
{
	struct thread_registers thread = { .pid = getpid(), .pc = 1, .sp = 8, .known = true };
	struct code_files files = { 0 };
	struct unwinds unwinds = { .deadline = DEADLINE_NONE };
	frame_list frames = { 0 };
	code_ranges ranges = { 0 };

	(void)state;
	assert_int_equal(code_list(getpid(), &files, &ranges), 0);
	assert_int_equal(frames_walk(&frames, &thread, &ranges, &unwinds), UB_STACK_NO_MODULE);
	assert_int_equal(frames.len, 1);
	/* where there is no time, the walk says so */
	unwinds.deadline = 1;
	assert_int_equal(frames_walk(&frames, &thread, &ranges, &unwinds), UB_STACK_NOT_YET);
	assert_int_equal(frames.len, 1);
	unwinds.deadline = DEADLINE_NONE;
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
		cmocka_unit_test(test_woken),   cmocka_unit_test(test_few_files),
		cmocka_unit_test(test_garbage),
#ifdef __x86_64__
		cmocka_unit_test(test_between),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
