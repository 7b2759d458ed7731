/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads that another process or a server can delay for ever: from a process's memory, from files in
 * /proc that are read from its memory, and from the files it maps. A page may be served by a
 * userfaultfd, by FUSE, or by a server that is gone. Each read is made by a separate thread, which
 * is abandoned if it takes too long. Any thread.
 */
#ifndef UCXBPF_PROCESS_REMOTE_H
#define UCXBPF_PROCESS_REMOTE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Both return the bytes read, at most size, or -errno. -ETIME: the process delays reads, this one
 * or one in the last minute; the first one causes a warning.
 */
long remote_read_memory(pid_t pid, uint64_t address, void *buffer, size_t size);

/* The content of /proc/PID/NAME, in as many read(2) calls as it takes. */
long remote_read_file(pid_t pid, const char *name, void *buffer, size_t size);

/* As stat(2). 0 or -errno; -ETIME: nobody answers. */
int remote_stat(const char *path, struct stat *st);

/*
 * Opens a regular file for reading: the descriptor, the caller's to close, or -errno. -ENOEXEC: not
 * a regular file, and not opened, since that may have effects or block; -ETIME.
 */
int remote_open(const char *path);

/* As pread(2). Bytes read or -errno; -ETIME. */
long remote_pread(int fd, void *buffer, size_t size, uint64_t offset);

/*
 * The files that match a pattern (glob(7)), each with its NUL, as many as fit. The number of bytes,
 * or -errno.
 */
long remote_glob(const char *pattern, char *names, size_t size);

/* realpath(3), into PATH_MAX bytes. */
int remote_realpath(const char *path, char *real);

#endif
