/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What lies where in a process, other than by the calls that made it: looks at its mappings and at
 * what UCX had found out, taken now and then. A look holds before and after its time as long as
 * nothing was seen to happen at that address in between. Mappings tell host memory from what may be
 * a GPU's; which GPU, UCX alone tells, or nobody.
 *
 * Not seen: what a process had opened of another's memory before the trace began. UCX takes it for
 * memory of the GPU on which it was opened.
 */
#ifndef UCXBPF_MEMORY_EVIDENCE_H
#define UCXBPF_MEMORY_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "explain/memory/memory.h"

enum evidence_class {
	EVIDENCE_NONE, /* not mapped */
	EVIDENCE_HOST,
	EVIDENCE_MANAGED,
	EVIDENCE_PINNED,
	EVIDENCE_RESERVED, /* a GPU's or nobody's */
	EVIDENCE_OTHER, /* who knows what: a device's registers */
};

struct evidence_range {
	uint64_t start, end; /* end: the first address behind */
	enum evidence_class class;
};

enum evidence_type { UCX_SAYS_UNKNOWN, UCX_SAYS_HOST, UCX_SAYS_GPU, UCX_SAYS_MANAGED };

struct evidence_region {
	uint64_t start, end;
	enum evidence_type type;
	int device; /* the caller's number; -1: not told */
};

/* Ranges and regions in order of address, without overlaps. */
struct evidence_look {
	uint64_t ts;
	const void *by; /* whose: a look of another says nothing */
	VEC(struct evidence_range) ranges;
	VEC(struct evidence_region) regions;
	bool cached; /* regions are all memory that UCX does not take for plain host memory */
	int only_device; /* the one that alone is possible in that process; -1: there are several */
};

/* Something happened to memory: it was made or it ended. */
struct evidence_change {
	uint64_t ts, start;
	uint64_t size; /* 0: an end, of what begins at start; UINT64_MAX: who knows where */
};

/* A zeroed one is empty. */
struct memory_evidence {
	VEC(struct evidence_look *) looks;
	VEC(struct evidence_change) changes;
	VEC(struct evidence_range) made; /* where any change was, in order of address */
	VEC(uint64_t) ends; /* times of when all that was before was over */
	const void *joined_by; /* whose the next is; NULL: nobody's */
	const void *distrusted; /* whose changes are not all there; NULL: nobody's */
	bool whole; /* the process was seen from its start, which was empty: so were all calls, */
	bool late; /* but perhaps not those before a GPU library was probed, */
	bool unprobed; /* and not those of functions that have no probe */
	int joined_device; /* on which alone it had memory when the trace began; the caller's */
};

void evidence_release(struct memory_evidence *evidence);

/* An empty one, to be filled before evidence_ready(). */
struct evidence_look *evidence_look_add(struct memory_evidence *evidence, uint64_t ts,
					const void *by);
void evidence_change_add(struct memory_evidence *evidence, uint64_t ts, uint64_t start,
			 uint64_t size);

/*
 * At the begin of the trace, the process could have memory on that device only. Later allocations
 * are traced calls.
 */
void evidence_joined(struct memory_evidence *evidence, const void *by, int device);

/* All that the process had is over: it has become another program. */
void evidence_end_add(struct memory_evidence *evidence, uint64_t ts);

/* All is there. */
void evidence_ready(struct memory_evidence *evidence);

/* Changes were lost: what UCX has found out of a process may have ended unseen. */
void evidence_distrust(struct memory_evidence *evidence, const void *by);

/*
 * What lay at an address at a time. Where kind or device are not known, the reason says why; no
 * look at all, or none that has anything there: false, answer is as it was.
 */
bool evidence_find(const struct memory_evidence *evidence, const void *by, uint64_t ts,
		   uint64_t address, struct memory_answer *answer);

#endif
