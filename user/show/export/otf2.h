/* SPDX-License-Identifier: BSD-3-Clause */
/* One export as an OTF2 archive (docs/otf2.md). */
#ifndef UCXBPF_EXPORT_OTF2_H
#define UCXBPF_EXPORT_OTF2_H

#include <otf2/otf2.h>

#include "base/map.h"
#include "base/vec.h"
#include "show/export/export.h"
#include "show/export/spans.h"
#include "show/export/worlds.h"

/* An archive as it is written: errors, words, what must be defined once. */
struct otf2_out {
	OTF2_Archive *archive;
	OTF2_GlobalDefWriter *defs;
	OTF2_AttributeList *attributes; /* of the next event */
	int err; /* the first one, -errno */
	char why[200]; /* OTF2's words for it; empty: it has none */
	OTF2_ErrorCallback before; /* whom OTF2 told of errors */
	struct map strings; /* word -> its number + 1 */
	struct map regions; /* (word, layer and what) -> likewise */
	uint32_t last_group, last_region; /* location groups and regions that there are */
	VEC(OTF2_LocationRef) locations;
	VEC(char *) texts; /* freed at the end */
};

/* Opens an archive in an empty directory. Returns 0 or -errno. */
int otf2_open(struct otf2_out *out, const char *directory);

/* Writes the archive's end. Returns 0 or -errno, also of earlier. */
int otf2_close(struct otf2_out *out);

/* Also an archive that was not closed. */
void otf2_release(struct otf2_out *out);

/* Keeps the first error. */
void otf2_check(struct otf2_out *out, OTF2_ErrorCode code);

/* The number of a word, made harmless. Words must live as long as out. */
OTF2_StringRef otf2_word(struct otf2_out *out, const char *word);

/* What is written for a word that is NULL. */
static inline const char *otf2_or_unknown(const char *word)
{
	return word ? word : "unknown";
}

/* A text that lives as long as out. */
const char *otf2_keep(struct otf2_out *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The number of a text that is made here. */
OTF2_StringRef otf2_text(struct otf2_out *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The region of spans with that name; NULL: not known. */
OTF2_RegionRef otf2_region(struct otf2_out *out, const char *name, enum span_layer layer,
			   bool sums);

/* A region that is none of the program's. */
OTF2_RegionRef otf2_own_region(struct otf2_out *out, const char *name);

/* Communicators; behind them one of each world. */
enum { COMM_MPI, COMM_OUTSIDE, COMM_WORLDS };
/* Groups of processes, likewise. */
enum { GROUP_LOCATIONS, GROUP_MEMBERS, GROUP_WORLDS };

/* One export. */
struct otf2 {
	struct export_target *target;
	struct otf2_out out;
	struct spans spans;
	struct placing placing;
	struct worlds worlds;
	uint64_t collectives; /* collective events */
	VEC(struct fact_reason) not_collective; /* why calls of such functions have none */
	VEC(uint32_t) ranks; /* in both communicators, by process */
	VEC(bool) begun; /* its first location is there, by process */
	uint32_t nobody; /* location group of what is of no process; 0: none yet */
};

/* ---- otf2.c ---- */

/* A location whose events were written. */
void otf2_define_location(struct otf2 *otf2, OTF2_LocationRef id, OTF2_StringRef name,
			  OTF2_LocationGroupRef group, uint64_t events);

/* The location group of a process or, for -1, of nobody. */
OTF2_LocationGroupRef otf2_group(struct otf2 *otf2, int process);

/* A new location group of a host, -1: of all. */
OTF2_LocationGroupRef otf2_host_group(struct otf2 *otf2, OTF2_StringRef name, int host);

/* Writes all events. Returns 0 or -errno. */
int otf2_spans(struct otf2 *otf2);

#endif
