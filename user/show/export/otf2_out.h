/* SPDX-License-Identifier: BSD-3-Clause */
/* An OTF2 archive as it is written: errors, words, what must be defined once. */
#ifndef UCXBPF_EXPORT_OTF2_OUT_H
#define UCXBPF_EXPORT_OTF2_OUT_H

#include <otf2/otf2.h>

#include "base/map.h"
#include "base/vec.h"
#include "show/export/spans.h"

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

#endif
