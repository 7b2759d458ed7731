/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where MPI code is mapped, for the kernel's half (bpf/caller.bpf.h): the unwinding rows of each
 * MPI library, with its API functions marked, and its address in each process.
 */
#ifndef UCXBPF_CAPTURE_CALLERS_H
#define UCXBPF_CAPTURE_CALLERS_H

#include "base/vec.h"
#include "observe/capture/kernel.h"
#include "observe/process/library.h"
#include "observe/process/unwind.h"

/* A library's rows in the kernel's array; count 0: it has none. */
struct caller_table {
	const struct library *library;
	struct unwind *unwind; /* while they are being read */
	unwind_rows rows;
	bool ready;
	uint32_t first, count;
};

struct callers {
	struct ucxbpf *skel;
	struct library_set *libraries;
	struct ub_caller *rows; /* the kernel's, mapped */
	uint32_t used;
	VEC(struct caller_table) tables;
	VEC(pid_t) waiting; /* processes whose libraries are not all read */
	bool unprobed; /* one maps functions that have no probe (UB_UNPROBED) */
};

/* The kernel was opened with derive; libraries outlives this. -errno of mmap(2). */
int callers_init(struct callers *callers, struct kernel *kernel, struct library_set *libraries);
void callers_release(struct callers *callers);

/* The process's code mappings have changed. */
void callers_process(struct callers *callers, pid_t tgid);

/* Whether all MPI code that a process maps is known, as far as its mappings were seen. */
bool callers_known(const struct callers *callers);

/* Reads missing rows for about ns at most: a library has 20,000 to 400,000, of 0.25 us each. */
void callers_work(struct callers *callers, uint64_t ns);

#endif
