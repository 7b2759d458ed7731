/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process's memory by other evidence than the calls that made it: looks at its mappings and at
 * UCX's cache of memory types, taken now and then. A look holds before and after its time as long
 * as no change was seen at that address in between. Mappings distinguish host memory from possible
 * GPU memory; only UCX's cache may show which GPU.
 *
 * Not seen: another process's memory opened before the trace began. UCX takes it for memory of the
 * GPU on which it was opened.
 */
#ifndef UCXBPF_MEMORY_EVIDENCE_H
#define UCXBPF_MEMORY_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "explain/memory/changes.h"
#include "explain/memory/memory.h"

enum evidence_class {
	EVIDENCE_NONE, /* not mapped */
	EVIDENCE_HOST,
	EVIDENCE_MANAGED,
	EVIDENCE_PINNED,
	EVIDENCE_RESERVED, /* a GPU's or reserved */
	EVIDENCE_OTHER, /* unknown: a device's registers */
};

struct evidence_range {
	uint64_t start, end; /* end: the first address behind */
	enum evidence_class class;
};

enum evidence_type { UCX_SAYS_UNKNOWN, UCX_SAYS_HOST, UCX_SAYS_GPU, UCX_SAYS_MANAGED };

struct evidence_region {
	uint64_t start, end;
	enum evidence_type type;
	int device; /* the caller's number; -1: not known */
};

/* Ranges and regions in order of address, without overlaps. */
struct evidence_look {
	uint64_t ts;
	const void *by; /* the capture that took it: one of another capture does not count */
	VEC(struct evidence_range) ranges;
	VEC(struct evidence_region) regions;
	bool distrusted; /* its capture lost changes of UCX's cache */
	bool cached; /* regions cover all memory that UCX does not take for plain host memory */
	int only_device; /* the only one possible in that process; -1: there are several */
};

/* A zeroed one is empty. */
struct memory_evidence {
	VEC(struct evidence_look *) looks;
	struct memory_changes changes;
	VEC(uint64_t) ends; /* times when everything before was over */
	const void *joined_by; /* capture that joined the process; NULL: none */
	bool distrusted; /* a look is; set by evidence_ready() */
	bool whole; /* the process was seen from its start, which was empty: so were all calls, */
	bool late; /* but perhaps not those before a GPU library was probed, */
	bool unprobed; /* and not those of functions that have no probe */
	int joined_device; /* on which alone it had memory when the trace began; the caller's */
};

void evidence_release(struct memory_evidence *evidence);

/* An empty one, to be filled before evidence_ready(). */
struct evidence_look *evidence_look_add(struct memory_evidence *evidence, uint64_t ts,
					const void *by);
/* size: as of a memory_change. */
void evidence_change_add(struct memory_evidence *evidence, uint64_t ts, uint64_t start,
			 uint64_t size);

/*
 * At the begin of the trace, the process could have memory on that device only. Later allocations
 * are traced calls.
 */
void evidence_joined(struct memory_evidence *evidence, const void *by, int device);

/* All memory of the process is over: it has become another program. */
void evidence_end_add(struct memory_evidence *evidence, uint64_t ts);

/* All evidence is in. */
void evidence_ready(struct memory_evidence *evidence);

/*
 * The memory at an address at a time. If kind or device are not known, the reason is set; no look,
 * or none with anything at that address: false, answer is unchanged.
 */
bool evidence_find(const struct memory_evidence *evidence, const void *by, uint64_t ts,
		   uint64_t address, struct memory_answer *answer);

#endif
