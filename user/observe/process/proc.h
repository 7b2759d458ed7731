/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process as /proc/PID shows it: small files, its memory, its mappings, and their kinds of
 * memory.
 */
#ifndef UCXBPF_PROCESS_PROC_H
#define UCXBPF_PROCESS_PROC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "observe/process/remote.h"

/*
 * Bytes read, at most size; -ESRCH: no such process (any more), -EACCES: not allowed, -ETIME: it
 * delays reads of its memory (remote.h).
 */
long proc_read(pid_t pid, const char *name, void *buffer, size_t size);

/* A number from /proc/PID/status by its label ("Tgid:"); -ESRCH, -EACCES, -ENOENT. */
long proc_status_number(pid_t pid, const char *label);

struct proc_stat {
	char comm[32]; /* may hold blanks and brackets */
	char state; /* R, S, D, T... */
	bool exiting;
	uint64_t start_time; /* ns after boot */
	uint64_t start_stack; /* where the first thread's stack began; 0: may not be read */
};

/* /proc/PID/stat, or that of a thread: tid, 0 = of the process. -ESRCH, -EACCES. */
int proc_stat(pid_t pid, pid_t tid, struct proc_stat *stat);

/*
 * Calls fn for each thread of a process; stops early when fn returns non-zero and returns that.
 * -ESRCH: it has ended.
 */
int proc_threads(pid_t pid, int (*fn)(void *arg, pid_t tid), void *arg);

/*
 * Copies from a process's memory. Returns the number of bytes up to the first one that cannot be
 * read; -ESRCH, -EACCES, -ETIME.
 */
long proc_read_memory(pid_t pid, unsigned long long address, void *buffer, size_t size);

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
 * Between these two all calls of process_each_mapping() for pid, by this thread, use one copy of
 * the list: reading it takes the kernel half a millisecond for the 700 mappings of an MPI rank.
 * False: a caller holds a copy already, which stays.
 */
bool process_maps_hold(pid_t pid);
void process_maps_drop(void);

/* The path, of up to PATH_MAX bytes, that leads to the mapped file. */
void mapping_path(pid_t pid, const struct mapping *mapping, char *path);

/*
 * Opens the mapped file, even when it was deleted or replaced since; that needs
 * CAP_CHECKPOINT_RESTORE. Without it, by the path in the process's own root, if that is still the
 * same file. As remote_open(); -ESTALE: another file is at that path, or mapped there now.
 */
int mapping_open(pid_t pid, const struct mapping *mapping, struct remote_file *file);

enum map_class {
	MAP_NONE, /* not mapped */
	MAP_HOST, /* pinned or not: /proc does not show it */
	MAP_MANAGED,
	MAP_PINNED, /* the driver's own host memory */
	MAP_RESERVED, /* no access, no file: a GPU's memory, or reserved */
	MAP_OTHER, /* unknown: a device's registers */
	MAP_CLASSES
};

struct map_range {
	uint64_t start, end; /* end: the first address behind */
	enum map_class class; /* not MAP_NONE */
};

/*
 * The memory types in a process's mappings, as far as /proc shows them: certain host memory, and
 * possible GPU memory. Seen with NVIDIA's driver 580: memory of a GPU lies where the driver has
 * reserved addresses without a file and without any access; managed memory in mappings of
 * /dev/nvidia-uvm, host memory of cuMemCreate in such of /dev/nvidiactl, memory of cuMemHostAlloc
 * in shared ones of /dev/zero. In order of address; neighbours differ in class. A zeroed one is
 * empty.
 */
struct memory_map {
	VEC(struct map_range) ranges;
};

enum map_class mapping_class(const struct mapping *mapping);

/* Replaces what map held. -ESRCH, -EACCES as process_each_mapping(). */
int memory_map_read(struct memory_map *map, pid_t pid);
void memory_map_release(struct memory_map *map);

enum map_class memory_map_find(const struct memory_map *map, uint64_t address);

/* [[start, end, class]..], as in side records. */
json_t *memory_map_json(const struct memory_map *map);

#endif
