/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The traced processes: the libraries that each one maps, probed as they appear, and its identity
 * as side records, made while it lives.
 */
#ifndef UCXBPF_CAPTURE_TRACK_H
#define UCXBPF_CAPTURE_TRACK_H

#include "base/map.h"
#include "base/vec.h"
#include "observe/capture/cells.h"
#include "observe/capture/probes.h"
#include "file/file.h"
#include "observe/process/library.h"

struct tracked {
	pid_t tgid;
	int pidfd; /* from track_add() to track_begin(), else -1 */
	bool from_start, alive, announced, uses_ucp;
	bool copy; /* forked, and has mapped nothing since: its libraries are its parent's */
	bool late; /* a library was mapped before it was probed: objects may be unknown */
	bool reaped; /* the kernel has forgotten it, but no record of its end has come */
	bool replaced; /* replaced by another program in the same process */
	bool user_threads; /* it maps a runtime of user-level threads */
	bool no_ends; /* exact ends of its MPI calls are refused (track_libraries.c) */
	bool read; /* objects were read, although it is traced from its start */
	bool memory_watched; /* capture/memory.h */
	uint64_t since, ended; /* CLOCK_MONOTONIC ns; ended 0: alive */
	uint64_t begun; /* likewise: track_begin(); 0: not yet, or it is a child */
	bool dirty; /* has mapped something since the last scan */
	uint64_t dirty_since; /* when that was first noticed, CLOCK_MONOTONIC ns */
	uint64_t mapped_at, read_at; /* its last mapping, and when all were last read, likewise */
	VEC(const struct library *) libraries; /* announced */
};

struct track {
	struct library_set libraries;
	VEC(struct tracked) processes; /* one per tgid and program; the last one is valid */
	struct map latest; /* tgid -> index + 1 */
	struct map ends_refused; /* (dev, ino) of MPI libraries whose calls get no exact ends */
	VEC(size_t) dirty; /* indices to scan */
	VEC(pid_t) scanned; /* for session.c, which empties it */
	VEC(pid_t) unlearnt; /* lost the probes at their completion functions; likewise */
	VEC(size_t) free; /* unannounced entries of dead processes */
	struct kernel *kernel;
	struct probes *probes;
	struct file_writer *writer;
	struct cells *cells; /* set after track_init() */
	struct addresses *addresses; /* likewise */
	bool arguments; /* of command lines are kept; likewise */
	bool knows_shmem; /* the file has the rows of OpenSHMEM's functions; likewise */
	unsigned int announced; /* processes that mapped UCX or MPI, ever */
	unsigned int with_ucx; /* announced and alive */
	unsigned int alive;
	unsigned int environments_refused; /* of announced ones */
};

void track_init(struct track *track, struct kernel *kernel, struct probes *probes,
		struct file_writer *writer);
void track_release(struct track *track);

/* The present process with this tgid, NULL = none. Valid until the next one is added. */
struct tracked *track_find(const struct track *track, pid_t tgid);

/* Whether a side record describes the process that had this tgid at time ns, or since then. */
bool track_knows(const struct track *track, pid_t tgid, uint64_t time);

/*
 * Adds a process, which the kernel does not record yet. -ESRCH: gone; -EOPNOTSUPP: 32-bit;
 * -EINVAL: a thread, not a process; -EEXIST: known already.
 */
int track_add(struct track *track, pid_t tgid, bool from_start);

/*
 * From now on the kernel records it. -ESRCH: it has ended since track_add(), and no longer counts;
 * its number may belong to another process by now, of which nothing is recorded.
 */
int track_begin(struct track *track, pid_t tgid);

/* Ends the entries of processes that the kernel has forgotten: their exit record was lost. */
void track_reap(struct track *track);

/*
 * Whether an announced process has ended, and all its records are in files that were complete by
 * then. The record of its end may wait in a ring for a while after the kernel has forgotten it.
 */
bool track_is_over(const struct tracked *tracked, uint64_t by);

/* Frees the state of processes that had ended by then, announced ones too. */
void track_forget_ended(struct track *track, uint64_t by);

/*
 * Frees libraries that no process here maps, with their probes: deleted ones, and all if they are
 * very many. After track_forget_ended().
 */
void track_forget_libraries(struct track *track);

/*
 * The files with these keys were rewritten in place. Adds the keys of libraries whose probes had
 * the layout of one of them, and which are probed anew as well.
 */
void track_rewritten(struct track *track, struct map *keys);

/* Scans every live process again: mmap events were lost. */
void track_rescan(struct track *track);

/* Adds the process if it maps UCX or MPI; returns whether it was added. */
bool track_consider(struct track *track, pid_t tgid);

/* A task record: adds children, examines new programs, stops counting the dead. */
void track_task(struct track *track, const struct ub_task *task);

/* An executable mapping appeared at that time. */
void track_mapped(struct track *track, pid_t tgid, uint64_t time);

/* Scans every process that has changed, places missing probes, writes side records. */
void track_scan(struct track *track);

/*
 * Processes whose last program is known to have mapped an MPI library, but none of UCX; unknown:
 * they ended before the tracer had read all their mappings.
 */
struct mpi_alone {
	unsigned int without_ucx, unknown;
};

/* After the last task record and the last track_mapped(): writes what could not be read. */
struct mpi_alone track_finish(struct track *track);

#endif
