/* SPDX-License-Identifier: BSD-3-Clause */
/* One export as an OTF2 archive (docs/otf2.md). */
#ifndef UCXBPF_EXPORT_OTF2_H
#define UCXBPF_EXPORT_OTF2_H

#include <otf2/otf2.h>

#include "base/map.h"
#include "base/vec.h"
#include "show/export/export.h"
#include "show/export/placing.h"
#include "show/export/spans.h"
#include "show/export/worlds.h"

/* A location whose events have been written. */
struct otf2_location {
	OTF2_LocationRef id;
	OTF2_StringRef name;
	OTF2_LocationGroupRef group;
	uint64_t events;
};

/* An archive being written: errors, strings, and definitions that are written once. */
struct otf2_out {
	OTF2_Archive *archive;
	OTF2_GlobalDefWriter *defs;
	OTF2_AttributeList *attributes; /* attributes of the next event */
	int err; /* first error, -errno */
	char why[200]; /* OTF2's message for it; empty: none */
	OTF2_ErrorCallback before; /* error callback to restore */
	struct map strings; /* string -> its number + 1 */
	struct map regions; /* (string, layer and kind) -> its number + 1 */
	uint32_t last_region; /* number of regions */
	VEC(uint32_t) groups; /* by number: locations so far, without a process's first one */
	VEC(struct otf2_location) locations;
	VEC(char *) texts; /* freed at the end */
};

/* Opens an archive in an empty directory. Returns 0 or -errno. */
int otf2_open(struct otf2_out *out, const char *directory);

/* Closes the archive. Returns 0 or -errno, also of earlier errors. */
int otf2_close(struct otf2_out *out);

/* Also releases an archive that was not closed. */
void otf2_release(struct otf2_out *out);

/* Keeps the first error. */
void otf2_check(struct otf2_out *out, OTF2_ErrorCode code);

/* The number of a string, made safe to print. The text must live as long as out. */
OTF2_StringRef otf2_word(struct otf2_out *out, const char *word);

/* The text written for NULL. */
static inline const char *otf2_or_unknown(const char *word)
{
	return word ? word : "unknown";
}

/* A text that lives as long as out. */
const char *otf2_keep(struct otf2_out *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The number of a string that is formatted here. */
OTF2_StringRef otf2_text(struct otf2_out *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The region of spans with that name; NULL: not known. */
OTF2_RegionRef otf2_region(struct otf2_out *out, const char *name, enum level layer, bool sums);

/* The region of a whole program of that name; NULL: not known. */
OTF2_RegionRef otf2_program(struct otf2_out *out, const char *name);

/* A region that is not part of the program. */
OTF2_RegionRef otf2_own_region(struct otf2_out *out, OTF2_StringRef name);

/* Predefined communicators, followed by one per world. */
enum { COMM_MPI, COMM_OUTSIDE, COMM_WORLDS };
/* Groups of processes, in the same order. */
enum { GROUP_LOCATIONS, GROUP_MEMBERS, GROUP_WORLDS };

typedef VEC(struct fact_reason) otf2_reasons;

/* One export. */
struct otf2 {
	struct export_target *target;
	struct otf2_out out;
	struct spans spans;
	struct placing placing;
	struct worlds worlds;
	uint64_t collectives; /* collective events */
	uint64_t programs; /* regions of whole programs */
	const char *no_program; /* why no process has one; static */
	otf2_reasons without_program; /* why processes have none */
	/* why calls of such functions have no collective event */
	otf2_reasons not_collective;
	VEC(bool) begun; /* whether its first location is defined, by process */
	uint32_t nobody; /* location group of events without a process; 0: none yet */
};

/* ---- otf2_out.c ---- */

/*
 * A number for the next location of a group: the group's, and how many it had in the upper half. 0
 * there is the first location of a process.
 */
OTF2_LocationRef otf2_next_location(struct otf2_out *out, OTF2_LocationGroupRef group);

/* Defines all locations, in the order of groups and in these of numbers. */
void otf2_define_locations(struct otf2_out *out);

/* The location group of a process, or of -1: its position in the order of ranks. */
OTF2_LocationGroupRef otf2_group(struct otf2 *otf2, int process);

/* Defines a location group of a host; -1: of all hosts. */
OTF2_LocationGroupRef otf2_host_group(struct otf2 *otf2, OTF2_StringRef name, int host);

/* ---- otf2_spans.c ---- */

/* Writes all events. Returns 0 or -errno. */
int otf2_spans(struct otf2 *otf2);

#endif
