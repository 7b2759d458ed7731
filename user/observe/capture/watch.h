/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports processes that have just mapped something executable, from perf's mmap events, which
 * cover program start, dlopen and children.
 */
#ifndef UCXBPF_CAPTURE_WATCH_H
#define UCXBPF_CAPTURE_WATCH_H

#include <stdint.h>
#include <sys/types.h>

#include "observe/process/proc.h"

struct library_watch;

/* tgid mapped an executable file at time ns (CLOCK_MONOTONIC); the path is valid in the call. */
typedef void (*watch_fn)(void *arg, pid_t tgid, const struct mapping *mapping, uint64_t time);

/* -EACCES: CAP_PERFMON is missing. */
int watch_open(struct library_watch **watch, watch_fn fn, void *arg);
void watch_free(struct library_watch *watch);

/* Number of file descriptors to poll for input, and each of them. */
int watch_fd_count(const struct library_watch *watch);
int watch_fd(const struct library_watch *watch, int i);

/* Reports the events that have arrived. lost counts events that the kernel could not deliver. */
void watch_read(struct library_watch *watch, uint64_t *lost);

#endif
