/* SPDX-License-Identifier: BSD-3-Clause */
/* Where an analysis takes its records from: capture files, or a test's own. */
#ifndef UCXBPF_MATCH_ANALYSIS_H
#define UCXBPF_MATCH_ANALYSIS_H

#include <jansson.h>
#include <stdbool.h>

#include "explain/match/facts.h"
#include "ucxbpf.h"

struct record_source {
	void *ctx;
	/* As file_reader_next(). */
	int (*next)(void *ctx, const struct ub_hdr **record);
	/* Back to the first record; 0 or -errno. */
	int (*rewind)(void *ctx);
	void (*release)(void *ctx); /* NULL: nothing to do */
	const json_t *sides; /* outlive the analysis */
	struct ub_stats stats;
	uint64_t damaged; /* bytes that could not be read */
	/* The same, with what showed when the records were read; NULL: it stays the same. */
	uint64_t (*damage)(void *ctx);
	uint64_t refused; /* records that could not be stored */
	const char *incomplete; /* why the capture has no proper end; NULL */
};

/* Whether a source that is there already has a process of these side records at the same time. */
bool analysis_overlaps(const struct analysis *analysis, const json_t *sides);

/* Takes the source over. */
void analysis_add_source(struct analysis *analysis, const struct record_source *source);

#endif
