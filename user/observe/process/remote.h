/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads that another process or a server can delay for ever: of a process's memory, of the files in
 * /proc that lie in its memory, and of the files it maps. A page may be served by a userfaultfd, by
 * FUSE, or by a server that is gone. Such a read is made by a thread of its own, which is left
 * behind if it takes too long. Any thread.
 */
#ifndef UCXBPF_PROCESS_REMOTE_H
#define UCXBPF_PROCESS_REMOTE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Both return the bytes read, at most size, or -errno. -ETIME: the process delays reads, this one
 * or one in the last minute; a warning was printed for the first one.
 */
long remote_read_memory(pid_t pid, uint64_t address, void *buffer, size_t size);

/* Of /proc/PID/NAME: what one read(2) after the other gives. */
long remote_read_file(pid_t pid, const char *name, void *buffer, size_t size);

/* As stat(2). 0 or -errno; -ETIME: nobody answers. */
int remote_stat(const char *path, struct stat *st);

/*
 * Opens a regular file to read it: the descriptor, the caller's to close, or -errno. -ENOEXEC: no
 * regular file, which is not opened, for that may have effects or block; -ETIME.
 */
int remote_open(const char *path);

/* As pread(2). Bytes read or -errno; -ETIME. */
long remote_pread(int fd, void *buffer, size_t size, uint64_t offset);

/*
 * The files of a pattern (glob(7)), each with its NUL, as many as there is room for. How many
 * bytes, or -errno.
 */
long remote_glob(const char *pattern, char *names, size_t size);

/* realpath(3), into PATH_MAX bytes. */
int remote_realpath(const char *path, char *real);

#endif
