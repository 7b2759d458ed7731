/* SPDX-License-Identifier: BSD-3-Clause */
/* What captures say about themselves: loss and notes. */
#ifndef UCXBPF_MATCH_TOTALS_H
#define UCXBPF_MATCH_TOTALS_H

#include "explain/match/analysis.h"
#include "explain/match/match.h"

/* Records that found no room, for whatever reason. */
uint64_t stats_dropped(const struct ub_stats *stats);

/*
 * Adds one capture's counters and notes; stored: records that were read of it, to its end. loss:
 * what it lacks, but for its host; returns whether that is anything.
 */
bool totals_add(struct fact_totals *totals, const struct record_source *source,
		const struct capture *capture, uint64_t stored, struct analysis_loss *loss);

/* Once all facts were handed on: what has detail counts among all. */
void totals_detail(struct fact_totals *totals);

#endif
