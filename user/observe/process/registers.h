/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Positions of threads of running processes, without stopping them: the registers from which a walk
 * of their stacks starts. x86-64.
 */
#ifndef UCXBPF_PROCESS_REGISTERS_H
#define UCXBPF_PROCESS_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct thread_registers {
	pid_t pid, tid;
	uint64_t at; /* when all below held, CLOCK_MONOTONIC ns */
	char state; /* as in /proc/PID/stat: R, S, D, T... 0: the thread has ended */
	bool known; /* pc and sp are known; else it neither ran nor slept in time */
	bool waited_for; /* it was sampled for a whole turn, and did not run */
	bool bp_known; /* the kernel reports no %rbp of a thread that sleeps or was stopped */
	bool asleep; /* or stopped: its memory is as it was then while thread_unmoved() */
	uint64_t pc, sp, bp;
	uint64_t switches; /* of a sleeping one: its number of context switches */
	/* its stack from sp on, as it was then; all that is known of a running thread */
	VEC(uint8_t) stack;
};

typedef VEC(struct thread_registers) thread_list;

/* Appends the threads of a process, at most max; registers are not read yet. -ESRCH. */
int threads_list(thread_list *threads, pid_t pid, unsigned int max);

typedef void (*thread_seen)(void *arg, struct thread_registers *thread);

/*
 * Reads the registers of all listed threads: those of a sleeping or stopped one from
 * /proc/PID/task/TID/syscall, those of a running one by a sample of its CPU clock, of at most 256
 * at once. Gives up on threads that do neither within ms milliseconds, not counting the time in
 * seen. Calls seen for each thread, as soon as its registers are known; its stack is released
 * afterwards.
 */
void threads_registers(thread_list *threads, unsigned int ms, thread_seen seen, void *arg);

/*
 * Whether a thread that was asleep has not run since then, so that its memory was the same all the
 * time. Always true after a sample.
 */
bool thread_unmoved(const struct thread_registers *thread);

void threads_release(thread_list *threads);

#endif
