/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locations of an OTF2 archive while they are written: a lane of a thread's layer, where regions
 * are entered and left one after the other.
 */
#ifndef UCXBPF_EXPORT_OTF2_LANES_H
#define UCXBPF_EXPORT_OTF2_LANES_H

#include "show/export/spans.h"
#include "show/export/otf2.h"

/* OTF2 keeps 256 KiB and a file for each location that is open. */
#define OPEN_LANES 64

struct lane {
	OTF2_EvtWriter *writer; /* NULL: not open */
	OTF2_LocationRef id;
	OTF2_StringRef name;
	uint64_t events;
	bool inside; /* of region, until leave */
	OTF2_RegionRef region;
	uint64_t leave;
	const struct collective *collective; /* that it is inside of; NULL: none */
	OTF2_CommRef comm;
};

struct writer {
	struct otf2 *otf2;
	uint64_t key; /* of the group */
	bool open;
	int process, host;
	OTF2_LocationGroupRef group;
	enum span_layer layer;
	struct lanes lanes;
	struct lane open_lanes[OPEN_LANES], sums;
	struct sorter *waiting; /* spans of lanes that are not open; NULL: none */
	OTF2_LocationRef last_id;
};

/* Opened unless it is already; sums: it holds no single events. */
void otf2_lane_open(struct writer *writer, struct lane *lane, bool sums);
/* It is left, and defined with as many events as it has got. */
void otf2_lane_close(struct writer *writer, struct lane *lane);

/* A span begins, where the one before ends. */
void otf2_lane_enter(struct writer *writer, struct lane *lane, const struct span *span);
void otf2_lane_leave(struct writer *writer, struct lane *lane);

/* Where a span that was entered is a collective operation that can be told as one. */
void otf2_collective_begin(struct writer *writer, struct lane *lane, const struct span *span);
void otf2_collective_end(struct writer *writer, struct lane *lane);

/* What is known of a span goes with the next event; writing that empties the list. */
void otf2_attributes(struct writer *writer, const struct span *span);

/* On the timeline of all hosts. Times of nobody are of no known clock. */
uint64_t otf2_time(const struct writer *writer, uint64_t time);

#endif
