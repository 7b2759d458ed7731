/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code addresses in records. The module of each is looked up while its process lives, its symbol
 * and line at the end of the capture, since debug information takes time to read.
 */
#ifndef UCXBPF_CAPTURE_ADDRESSES_H
#define UCXBPF_CAPTURE_ADDRESSES_H

#include "base/map.h"
#include "base/vec.h"
#include "file/file.h"
#include "observe/capture/origins.h"
#include "observe/capture/quota.h"
#include "observe/capture/strays.h"
#include "observe/process/code.h"

struct unplaced {
	pid_t tgid;
	uint64_t address;
	uint64_t time; /* of the record, CLOCK_MONOTONIC ns */
	uint64_t next; /* no look up before, CLOCK_MONOTONIC ns */
	bool asked; /* looked up once, in vain */
};

/* Code that a process mapped at time ns (CLOCK_MONOTONIC), even if it is unmapped by now. */
struct heard_range {
	struct code_range range;
	uint64_t time;
};

/*
 * A process's code when it was last read. Kept for half a minute after its end: rings are drained
 * in turn, so that its last calls may be read after its end.
 */
struct process_code {
	pid_t tgid;
	uint64_t since; /* CLOCK_MONOTONIC ns, when it was looked at first */
	uint64_t execed; /* likewise, when its program began to be mapped; 0: not known */
	uint64_t read; /* likewise, when its mappings were last read; 0: never */
	uint64_t next_read; /* likewise: not again before */
	int error; /* of the last reading */
	code_ranges ranges;
	VEC(struct heard_range) heard; /* oldest first; none twice */
};

struct ended_process {
	pid_t tgid;
	uint64_t time; /* of its end, CLOCK_MONOTONIC ns */
};

/* An address whose module is known and whose symbol is not looked up yet. */
struct placed_address {
	struct code_file *file;
	uint64_t vaddr;
};

struct addresses {
	struct file_writer *writer;
	struct code_files files;
	bool unswept; /* a process that had code in some of them is forgotten */
	bool nameless; /* symbols are not looked up; set after addresses_init() */
	struct map seen; /* (tgid, address) */
	struct quota quota; /* of these */
	struct map named; /* (file number, link-time address) that is in placed */
	struct map written; /* file number: its module record is written */
	VEC(struct unplaced) pending;
	VEC(struct process_code) processes;
	struct strays strays; /* for session.c, which fills it */
	struct origins origins;
	struct map numbers; /* tgid -> position in processes + 1 */
	VEC(struct ended_process) ended; /* whose code is still here */
	VEC(struct placed_address) placed;
};

void addresses_init(struct addresses *addresses, struct file_writer *writer);
void addresses_release(struct addresses *addresses);

/* The process has mapped something: its code is known even if it ends before its records come. */
void addresses_process(struct addresses *addresses, pid_t tgid);

/*
 * The process mapped this at time ns: a library that it unmaps before its mappings are read is
 * found here.
 */
void addresses_mapped(struct addresses *addresses, pid_t tgid, const struct mapping *mapping,
		      uint64_t time);

/*
 * The process began another program at time ns. Later mappings belong to the new program, although
 * the record of the exec comes behind them.
 */
void addresses_exec(struct addresses *addresses, pid_t tgid, uint64_t time);

/* Examines one record; cheap, called for every one. */
void addresses_record(struct addresses *addresses, const struct ub_hdr *record);

/* The process ended at time ns: its data are dropped half a minute later. */
void addresses_ended(struct addresses *addresses, pid_t tgid, uint64_t time);

/* Frees files in which no process here has code any more. */
void addresses_sweep(struct addresses *addresses);

/* The files with these keys were rewritten: addresses in them that have no name yet get none. */
void addresses_rewritten(struct addresses *addresses, const struct map *keys);

/* Whether the file with that number has its module record, and is still here. */
bool addresses_has_module(const struct addresses *addresses, uint64_t number);

/* An address that a process had at time ns (CLOCK_MONOTONIC); 0: none. */
void addresses_notice(struct addresses *addresses, pid_t tgid, uint64_t address, uint64_t time);

/*
 * Looks up the modules of addresses seen since the last call, writes "module" and "address". A
 * module not found is looked up once more by the next call. Addresses wait for a later call where
 * there is no time before the deadline (deadline.h), or where the mappings of their process were
 * read just before, which takes long if it has many.
 */
void addresses_apply(struct addresses *addresses, uint64_t deadline);

/*
 * Looks up the modules of addresses that wait, before the deadline, and symbols and lines of all
 * addresses seen; writes "symbol" records.
 */
void addresses_finish(struct addresses *addresses, uint64_t deadline);

#endif
