/* SPDX-License-Identifier: BSD-3-Clause */
/* What captures say about themselves: loss and notes. */
#ifndef UCXBPF_MATCH_TOTALS_H
#define UCXBPF_MATCH_TOTALS_H

#include "match/analysis.h"
#include "match/match.h"

uint64_t stats_dropped(const struct ub_stats *stats);

/* Adds one capture's counters and notes; stored: records that were read of it. */
void totals_add(struct fact_totals *totals, const struct record_source *source,
		const struct capture *capture, uint64_t stored);

#endif
