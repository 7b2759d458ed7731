/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places in code that records name by address: in which module each lies is looked up while its
 * process lives, its symbol and line at the end of the capture, since debug information takes time
 * to read.
 */
#ifndef UCXBPF_CAPTURE_SYMBOLS_H
#define UCXBPF_CAPTURE_SYMBOLS_H

#include "base/map.h"
#include "base/vec.h"
#include "file/file.h"
#include "observe/process/code.h"

struct unplaced {
	pid_t tgid;
	uint64_t address;
};

/*
 * A process's code when it was last read. Outlives the process: rings are drained one after the
 * other, so that its last calls may be read after its end.
 */
struct process_code {
	pid_t tgid;
	code_ranges ranges;
};

/* An address in a module that was found: its symbol is still to be looked up. */
struct placed {
	struct code_file *file;
	uint64_t vaddr;
};

struct places {
	struct file_writer *writer;
	struct code_files files;
	struct map seen; /* (tgid, address) */
	struct map named; /* (file number, link-time address) that is in placed */
	struct map written; /* file number: its module record is written */
	VEC(struct unplaced) pending;
	VEC(struct process_code) processes;
	VEC(struct placed) placed;
};

void places_init(struct places *places, struct file_writer *writer);
void places_release(struct places *places);

/* Looks at one record; cheap, called for every one. */
void places_record(struct places *places, const struct ub_hdr *record);

/* Looks up the modules of what was seen since the last call, writes "module" and "address". */
void places_apply(struct places *places);

/* Looks up symbols and lines of everything seen, writes "symbol" records. */
void places_finish(struct places *places);

#endif
