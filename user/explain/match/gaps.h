/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When records were lost: as threads report it, by holes in the numbers of each CPU and, where the
 * tracer was killed, by holes in the numbers of a thread's frames.
 */
#ifndef UCXBPF_MATCH_GAPS_H
#define UCXBPF_MATCH_GAPS_H

#include "base/vec.h"
#include "explain/match/analysis.h"

struct gap {
	uint64_t from, until; /* the lost records began in between, ns */
	uint32_t tgid; /* of the process that made them; 0: any may have */
};

struct gaps {
	VEC(struct gap) all; /* by from */
	size_t next;
	uint64_t first; /* until then records before a CPU's first one are missing; 0: none are */
	uint64_t last; /* from then on records behind a CPU's last one are; UINT64_MAX: none are */
};

/* Reads the whole source once and rewinds it. Takes 24 bytes per record meanwhile. */
int gaps_find(struct gaps *gaps, struct record_source *source);

void gaps_release(struct gaps *gaps);

#endif
