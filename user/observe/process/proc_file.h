/* SPDX-License-Identifier: BSD-3-Clause */
/* Small files below /proc/PID, read whole. */
#ifndef UCXBPF_TARGET_PROC_FILE_H
#define UCXBPF_TARGET_PROC_FILE_H

#include <stddef.h>
#include <sys/types.h>

/* Bytes read, at most size; -ESRCH: no such process (any more), -EACCES: not allowed. */
long proc_read(pid_t pid, const char *name, void *buffer, size_t size);

/* A number from /proc/PID/status by its label ("Tgid:"); -ESRCH, -EACCES, -ENOENT. */
long proc_status_number(pid_t pid, const char *label);

/*
 * Copies from a process's memory. Returns the number of bytes up to the first one that cannot be
 * read; -ESRCH, -EACCES.
 */
long proc_read_memory(pid_t pid, unsigned long long address, void *buffer, size_t size);

#endif
