/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads that another process can delay for ever: of its memory, and of the files in /proc that lie
 * in its memory. A page may be served by a userfaultfd, by FUSE, or by a server that is gone. Such
 * a read is made by a thread of its own, which is left behind if it takes too long. Any thread.
 */
#ifndef UCXBPF_PROCESS_REMOTE_H
#define UCXBPF_PROCESS_REMOTE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Both return the bytes read, at most size, or -errno. -ETIME: the process delays reads, this one
 * or one in the last minute; a warning was printed for the first one.
 */
long remote_read_memory(pid_t pid, uint64_t address, void *buffer, size_t size);

/* Of /proc/PID/NAME: what one read(2) after the other gives. */
long remote_read_file(pid_t pid, const char *name, void *buffer, size_t size);

#endif
