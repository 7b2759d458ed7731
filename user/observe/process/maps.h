/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mappings of a process, as /proc/PID/maps lists them.
 */
#ifndef UCXBPF_TARGET_MAPS_H
#define UCXBPF_TARGET_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mapping {
	uint64_t start, end; /* addresses; end is the first one behind */
	uint64_t offset; /* in the file, bytes */
	bool readable, writable, executable;
	dev_t dev;
	ino_t ino; /* 0 = no file */
	const char *path; /* valid during the call; "[heap]", "" and the like without a file */
};

/*
 * Calls fn for each mapping in address order; stops early when fn returns non-zero and returns
 * that. -ESRCH: gone or exited, -EACCES: not allowed.
 */
int process_each_mapping(pid_t pid, int (*fn)(void *arg, const struct mapping *mapping), void *arg);

/*
 * Between these two all calls of process_each_mapping() for pid, by this thread, go through the
 * list as it is now: reading it takes the kernel half a millisecond for the 700 mappings of an MPI
 * rank.
 */
void process_maps_hold(pid_t pid);
void process_maps_drop(void);

/*
 * A path to open the mapped file by, even when it was deleted or replaced since; that needs
 * CAP_CHECKPOINT_RESTORE. Without it, the path in the process's own root, if that is still the same
 * file; -ESTALE: it is not, -errno.
 */
int mapping_open_path(pid_t pid, const struct mapping *mapping, char *path, size_t size);

#endif
