/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A capture as the analysis reads it, from a file or a test's own records, and facts about
 * captures.
 */
#ifndef UCXBPF_ANALYSIS_INTERNAL_H
#define UCXBPF_ANALYSIS_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "explain/analysis/analysis.h"
#include "explain/decode/decode.h"
#include "ucxbpf.h"

struct record_source {
	void *ctx;
	/* As file_reader_next(). */
	int (*next)(void *ctx, const struct ub_hdr **record);
	/* As file_reader_next_stored(); NULL: next. */
	int (*next_stored)(void *ctx, const struct ub_hdr **record);
	/* Back to the first record; 0 or -errno. */
	int (*rewind)(void *ctx);
	void (*release)(void *ctx); /* NULL: nothing to do */
	const json_t *sides; /* outlive the analysis */
	struct ub_stats stats;
	uint64_t damaged; /* bytes that could not be read */
	/* Damage that is known once the records were read, replaces damaged; NULL: the same. */
	uint64_t (*damage)(void *ctx);
	uint64_t refused; /* records that could not be stored */
	uint64_t unknown; /* side records of unknown kinds */
	const char *incomplete; /* why the capture is incomplete; NULL: it is complete */
	bool breaks_off; /* before the end of its trace */
	bool trimmed; /* records are missing on purpose, without a gap in the numbers */
};

/* Bytes that could not be read, as far as known by now. */
static inline uint64_t source_damage(const struct record_source *source)
{
	return source->damage ? source->damage(source->ctx) : source->damaged;
}

/* The last side record of that type ("self"); NULL: none. */
const json_t *side_last(const json_t *sides, const char *type);

/* Records that found no room, for whatever reason. */
uint64_t stats_dropped(const struct ub_stats *stats);

/*
 * Adds one capture's counters and notes; stored, last: records read from it, to its end, and the
 * time of the last one. loss: its missing data, without its host; returns whether there are any.
 */
bool totals_add(struct fact_totals *totals, const struct record_source *source,
		const struct capture *capture, uint64_t stored, uint64_t last,
		struct analysis_loss *loss);

/* After the last fact: conclusions from the sums of all captures and from matching. */
void totals_finish(struct fact_totals *totals);

#endif
