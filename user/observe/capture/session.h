/* SPDX-License-Identifier: BSD-3-Clause */
/* State that session.c, attach.c, budget.c and windows.c share. Private to capture/. */
#ifndef UCXBPF_CAPTURE_SESSION_H
#define UCXBPF_CAPTURE_SESSION_H

#include <poll.h>

#include "base/deadline.h"
#include "base/vec.h"
#include "observe/capture/budget.h"
#include "observe/capture/capture.h"
#include "observe/capture/cells.h"
#include "observe/capture/cost.h"
#include "observe/capture/derive.h"
#include "observe/capture/detail.h"
#include "observe/capture/drain.h"
#include "observe/capture/kernel.h"
#include "observe/capture/completions.h"
#include "observe/capture/existing.h"
#include "observe/capture/memory.h"
#include "observe/capture/missed.h"
#include "observe/capture/pace.h"
#include "observe/capture/addresses.h"
#include "observe/capture/probes.h"
#include "observe/capture/progress.h"
#include "observe/capture/stacks.h"
#include "observe/capture/threads.h"
#include "observe/capture/track.h"
#include "observe/capture/watch.h"
#include "observe/capture/windows.h"
#include "observe/process/bounds.h"

#define FLUSH_NS 500000000ull

struct capture_session {
	struct capture_options options;
	struct kernel *kernel;
	struct file_writer *writer;
	struct ring_drain *drain; /* NULL at the end */
	struct library_watch *watch;
	struct pollfd *polls; /* of the watch, of rewrites, then CAPTURE_WAKERS more */
	struct probes probes;
	struct track track;
	struct missed missed;
	struct completions completions;
	struct existing existing;
	struct memory_watch memory;
	struct addresses addresses;
	struct cost cost;
	struct cells cells;
	__u64 folded[UB_KINDS]; /* of struct ub_stats, when all cells were last written */
	struct stacks stacks;
	struct progress progress;
	struct windows windows;
	struct detail detail;
	uint64_t takes, taken_records; /* intervals so far; records in the file at the last one */
	uint64_t taken; /* side_now() ns: end of the last interval of a live session */
	uint64_t trimmed; /* bytes of its file after it was last trimmed */
	bool scarce; /* the disk is nearly full: sums are written at the end */
	struct budget budget;
	struct pace pace; /* of a live session, in place of the budget */
	struct derive derive;
	uint64_t opened, next_flush; /* side_now() ns */
	uint64_t next_look; /* at threads; side_now() ns, 0: none is due */
	unsigned int looks; /* made so far */
	uint64_t next_step; /* of drain_step(), side_now() ns */
	uint64_t next_placing; /* of the draining threads, side_now() ns */
	uint64_t sleep_until; /* side_now() ns, 0: no sleep */
	uint64_t rested; /* side_now() ns: its last wake-up while idle */
	uint64_t next_idle_flush; /* side_now() ns */
	unsigned int placed_for; /* processes with UCX then */
	uint64_t flushed; /* records that the last flush has written, UINT64_MAX: none was */
	VEC(struct newcomer {
		pid_t pid;
		uint64_t mapped; /* when, CLOCK_MONOTONIC ns */
	})
	newcomers; /* --all: mapped something, not looked at yet */
	uint64_t maps_lost;
	bool stopped;
	uint64_t stopped_at; /* side_now() ns; probes may take a while to be removed */
	int error;
};

/* Examines new mappings of processes, places probes, and writes side records. */
void session_follow(struct capture_session *capture);

/* --all: examines the processes that have mapped something since the last call. */
void session_consider_newcomers(struct capture_session *capture);

/* Reads unwinding rows of files mapped since the last call, for ns at most. */
void session_follow_stacks(struct capture_session *capture, uint64_t ns);

/* A record that passed the sieve. A drain_fn; arg: the capture. */
void session_record(void *arg, const struct ub_hdr *record);

/* Passes the ranks' CPUs to the draining threads when these have changed. */
void session_place_threads(struct capture_session *capture);

/* Writes all records so far to the file, which replaces its former content. */
void session_flush(struct capture_session *capture);

/*
 * Looks which MPI calls threads are in, again later if some did not run. The last look also covers
 * the queues of their workers.
 */
void session_look(struct capture_session *capture, bool last);

/* drain_step() for this session. */
void session_drain(struct capture_session *capture);

#endif
