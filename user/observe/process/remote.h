/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads that another process or a server can delay for ever: from a process's memory, from files in
 * /proc that are read from its memory, and from the files it maps. A page may be served by a
 * userfaultfd, by FUSE, or by a server that is gone. Each read is made by another process, which is
 * left behind after two seconds without progress. Then for a minute the traced process is left
 * alone, or all files of that file system get a fifth of a second without progress. So does every
 * file once ten seconds of a minute were waited for files in vain, and memory for memory. A file
 * system that has eight such processes wait is asked for nothing until one of them is answered, nor
 * is a traced process that has one. Any thread.
 */
#ifndef UCXBPF_PROCESS_REMOTE_H
#define UCXBPF_PROCESS_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Starts the process that starts the helpers. They keep the rights that the caller has now. Without
 * this call, the first question starts it.
 */
void remote_start(void);

/*
 * Both return the bytes read, at most size, or -errno. -ETIME: the process delays reads, this one
 * or one in the last minute; the first one causes a warning.
 */
long remote_read_memory(pid_t pid, uint64_t address, void *buffer, size_t size);

/* The content of /proc/PID/NAME, in as many read(2) calls as it takes. */
long remote_read_file(pid_t pid, const char *name, void *buffer, size_t size);

/*
 * As stat(2), from what the kernel knows if it need not ask a server: to identify a file. 0 or
 * -errno; -ETIME: nobody answers.
 */
int remote_stat(const char *path, struct stat *st);

/* An ELF file that another user may own. */
struct remote_file {
	int fd; /* open for reading, or the file alone (O_PATH) where there is an image */
	int image; /* a copy of its content, unless it is local or large: -1 */
	bool local; /* its file system has no server that could stop answering */
	bool by_users; /* users may mount file systems of its type, which may have a server */
	uint64_t below; /* the same in all overlays of one file, sometimes of others; 0: no overlay
			 */
	struct stat st; /* as it was when the file was opened */
};

/*
 * Opens, identifies and copies a file. 0, or -errno with fd -1. -ENOEXEC: not an ELF file; one that
 * is no regular file is not opened, since that may have effects or block; -EFBIG: more than 64 MiB
 * of it are holes; -EMEDIUMTYPE: larger than 64 MiB on a file system that a user has mounted, whose
 * server could delay its holder; -ETIME.
 */
int remote_open(const char *path, struct remote_file *file);
void remote_close(const struct remote_file *file);

/*
 * Whether both are one file to the kernel, with one cache, and so with the same probes: files of
 * two overlays may be. false where that is unknown.
 */
bool remote_is_same(const struct remote_file *file, const struct remote_file *other);

/*
 * As fstat(2), by what the kernel knows where it need not ask a server: a change by another machine
 * is seen once somebody here has opened the file anew. 0, -errno, -ETIME.
 */
int remote_look(const struct remote_file *file, struct stat *st);

/*
 * Whether the kernel, too, depends on no user's server where it reads the file. pid: a process that
 * maps it. 1, 0, or -errno: not known.
 */
int remote_is_roots(const struct remote_file *file, pid_t pid);

/* As pread(2). Bytes read or -errno; -ETIME. */
long remote_pread(const struct remote_file *file, void *buffer, size_t size, uint64_t offset);

/* The beginning of a regular file: bytes read or -errno; -ETIME. */
long remote_read_text(const char *path, char *text, size_t size);

/*
 * The files that match a pattern (glob(7)), each with its NUL, as many as fit. The number of bytes,
 * or -errno.
 */
long remote_glob(const char *pattern, char *names, size_t size);

/* realpath(3), into PATH_MAX bytes. */
int remote_realpath(const char *path, char *real);

#endif
