/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where threads of running processes are, without stopping them: the registers that a walk of their
 * stacks begins with. x86-64.
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
	char state; /* as in /proc/PID/stat: R, S, D, T... 0: the thread has ended */
	bool known; /* pc and sp are; else it did not run, and did not sleep either, in time */
	bool bp_known; /* the kernel tells no %rbp of a thread that sleeps or was stopped */
	uint64_t pc, sp, bp;
	/* its stack from sp on, as it was together with these; empty: read the process's memory */
	VEC(uint8_t) stack;
};

typedef VEC(struct thread_registers) thread_list;

/* Appends the threads of a process, at most max; registers are not read yet. -ESRCH. */
int threads_list(thread_list *threads, pid_t pid, unsigned int max);

/*
 * Reads the registers of all listed threads: those of a sleeping or stopped one from
 * /proc/PID/task/TID/syscall, those of a running one by a sample of its CPU clock. Gives up on a
 * thread that does neither within ms milliseconds.
 */
void threads_registers(thread_list *threads, unsigned int ms);

void threads_release(thread_list *threads);

#endif
