/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts processes that mapped UCX and ended before they could be read. Only their mappings are
 * known: their names, their jobs and their messages are not.
 */
#ifndef UCXBPF_CAPTURE_MISSED_H
#define UCXBPF_CAPTURE_MISSED_H

#include "observe/capture/strays.h"
#include "observe/capture/track.h"

struct missed_mapping;

struct missed {
	VEC(struct missed_mapping) mappings; /* whose processes have no side record so far */
	unsigned int count;
};

void missed_release(struct missed *missed);

/*
 * A process without a side record mapped this at time ns. recorded: it was traced from its start.
 */
void missed_mapped(struct missed *missed, pid_t tgid, bool recorded, const struct mapping *mapping,
		   uint64_t time);

/* A child, recorded since time ns, had ended before its fork was known: its mappings are strays. */
void missed_child(struct missed *missed, const struct strays *strays, pid_t tgid, uint64_t time);

/*
 * Counts processes that the last call already found ended: all their mappings have come by now. To
 * be called after track_scan().
 */
void missed_apply(struct missed *missed, struct track *track);

#endif
