/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports processes that have just mapped an executable file, from perf's mmap events, which cover
 * program start, dlopen and children, and processes that start another program.
 */
#ifndef UCXBPF_CAPTURE_WATCH_H
#define UCXBPF_CAPTURE_WATCH_H

#include <stdint.h>
#include <sys/types.h>

#include "observe/process/proc.h"

struct library_watch;

struct watch_heard {
	void *arg;
	/*
	 * tgid mapped an executable file at time ns (CLOCK_MONOTONIC); the path is valid in the
	 * call
	 */
	void (*mapped)(void *arg, pid_t tgid, const struct mapping *mapping, uint64_t time);
	/* tgid has a new program, none of which is mapped yet: begin_new_exec(), fs/exec.c */
	void (*exec)(void *arg, pid_t tgid, uint64_t time);
};

/* -EACCES: CAP_PERFMON is missing. */
int watch_open(struct library_watch **watch, const struct watch_heard *heard);
void watch_free(struct library_watch *watch);

/* Number of file descriptors to poll for input, and each of them. */
int watch_fd_count(const struct library_watch *watch);
int watch_fd(const struct library_watch *watch, int i);

/* Reports the events that have arrived. lost counts events that the kernel could not deliver. */
void watch_read(struct library_watch *watch, uint64_t *lost);

#endif
