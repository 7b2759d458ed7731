/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An export to Perfetto's trace format (docs/perfetto.md). A packet belongs to a sequence with its
 * own clock and dictionary: one per host, on its CLOCK_MONOTONIC, and one on CLOCK_REALTIME for
 * everything without a host.
 */
#ifndef UCXBPF_EXPORT_PERFETTO_H
#define UCXBPF_EXPORT_PERFETTO_H

#include <stdio.h>

#include "base/map.h"
#include "base/vec.h"
#include "perfetto.pb-c.h"
#include "show/export/export.h"
#include "show/export/placing.h"
#include "show/export/spans.h"
#include "show/export/traffic.h"

enum perfetto_words { WORDS_CATEGORY, WORDS_NAME, WORDS_KEY, WORDS_TEXT, WORDS };

struct perfetto_out {
	FILE *file;
	VEC(uint8_t) scratch;
	struct map iids[WORDS]; /* (string, sequence) -> its number there */
	VEC(uint64_t) last_iid[WORDS]; /* by sequence */
	uint64_t last_uuid;
	VEC(char *) texts; /* kept until the end */
};

/* Sequence numbers start at 1. */
enum { SEQUENCE_GLOBAL = 1 };

static inline uint32_t sequence_of_host(int host)
{
	return host < 0 ? SEQUENCE_GLOBAL : (uint32_t)host + 2;
}

void perfetto_out_init(struct perfetto_out *out, FILE *file);
void perfetto_out_release(struct perfetto_out *out);

/*
 * Starts a sequence. mono and real: one reading of both clocks of the host; NULL for the sequence
 * without a host. Call in order of real.
 */
void perfetto_sequence(struct perfetto_out *out, uint32_t sequence, const uint64_t *mono,
		       uint64_t real);

/* Writes an event that is already serialised. */
void perfetto_write(struct perfetto_out *out, uint32_t sequence, uint64_t time,
		    const uint8_t *event, size_t len);

/* A text for perfetto_iid(); freed with out. */
const char *perfetto_text(struct perfetto_out *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Writes a new track and makes track->name safe; the caller fills in the rest. Returns its uuid. */
uint64_t perfetto_describe(struct perfetto_out *out, uint32_t sequence, TrackDescriptor *track);

/* Likewise, with a name, a parent (0: none) and a position among its siblings. */
uint64_t perfetto_track(struct perfetto_out *out, uint32_t sequence, uint64_t parent,
			const char *name, int rank);

/* One value of an event: a text, or a number if that is NULL. Both strings are interned. */
struct perfetto_note {
	const char *key, *text;
	uint64_t number;
};

struct perfetto_event {
	TrackEventType type;
	uint64_t track; /* 0: not given */
	const char *category, *name; /* strings, or NULL */
	const struct perfetto_note *notes;
	size_t note_count;
	const uint64_t *flows;
	size_t flow_count;
	double counter; /* of TYPE_COUNTER */
};

#define PERFETTO_MAX_NOTES 96

typedef VEC(uint8_t) perfetto_bytes;

/* Serialises part of an event. Parts serialised one after the other form one event. */
void perfetto_pack(struct perfetto_out *out, uint32_t sequence, const struct perfetto_event *event,
		   perfetto_bytes *to);

/* Serialises and writes one event. */
void perfetto_put(struct perfetto_out *out, uint32_t sequence, uint64_t time,
		  const struct perfetto_event *event);

/* One export. */
struct perfetto {
	struct export_target *target;
	struct perfetto_out out;
	struct spans spans;
	struct traffic traffic;
	struct placing placing;
	VEC(uint64_t) host_tracks; /* by number */
	VEC(uint64_t) process_tracks; /* by index; 0: none */
};

/* Writes all spans. Returns 0 or -errno. */
int perfetto_spans(struct perfetto *perfetto);

#endif
