/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of processes with a GPU library that no traced call reports: looked at when the process is
 * found, on the first use of a buffer of unknown memory type, and at the end. Each look is a side
 * record "memory": mappings by kind, and UCX's own cache.
 */
#ifndef UCXBPF_CAPTURE_MEMORY_H
#define UCXBPF_CAPTURE_MEMORY_H

#include "base/map.h"
#include "base/vec.h"
#include "file/file.h"
#include "observe/capture/quota.h"
#include "observe/capture/track.h"
#include "observe/process/gpus.h"
#include "observe/process/proc.h"
#include "observe/process/ucx_memory.h"

struct memory_watched {
	pid_t tgid;
	bool gone, met; /* met: an unknown buffer was used since the last look */
	bool joined; /* it had memory before the trace began */
	unsigned int looks;
	uint64_t next; /* no look before, CLOCK_MONOTONIC ns */
	struct memory_map map; /* as it was at the last look */
	struct ucx_memory ucx;
};

struct memory_watch {
	struct track *track;
	struct file_writer *writer;
	bool on;
	ucx_files files;
	struct nvml *nvml; /* NULL: not installed, or not loaded yet */
	bool asked;
	VEC(struct memory_watched) watched;
	struct map index; /* tgid -> index + 1 */
	struct map met; /* (tgid, part of its addresses) that caused a look */
	struct quota quota; /* of these */
	uint64_t left_out; /* looks refused by LOOKS_MAX, or at the end for want of time */
};

void memory_watch_init(struct memory_watch *watch, struct track *track, struct file_writer *writer);
void memory_watch_release(struct memory_watch *watch);

/* Writes the GPUs of the host. */
void memory_watch_host(const struct memory_watch *watch);

/* Examines one record; cheap, called for every one. */
void memory_watch_record(struct memory_watch *watch, const struct ub_hdr *record);

/*
 * Looks at processes that are new or have used an unknown buffer: at those for which there is no
 * time before the deadline (deadline.h) by the next call.
 */
void memory_watch_apply(struct memory_watch *watch, uint64_t deadline);

/* A last look at live processes; writes how many looks were refused. */
void memory_watch_finish(struct memory_watch *watch, uint64_t deadline);

/* The process has ended or has become another program. */
void memory_watch_forget(struct memory_watch *watch, pid_t tgid);

#endif
