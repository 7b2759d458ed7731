/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts about captures: how they were made, their cost, their losses. */
#ifndef UCXBPF_ANALYSIS_TOTALS_H
#define UCXBPF_ANALYSIS_TOTALS_H

#include <stdbool.h>

#include "explain/analysis/analysis.h"
#include "explain/analysis/source.h"
#include "explain/decode/decode.h"

/* Records that found no room, for whatever reason. */
uint64_t stats_dropped(const struct ub_stats *stats);

/*
 * Adds one capture's counters and notes; stored: records that were read of it, to its end. loss:
 * what is missing, without its host; returns whether anything is.
 */
bool totals_add(struct fact_totals *totals, const struct record_source *source,
		const struct capture *capture, uint64_t stored, struct analysis_loss *loss);

/* After the last fact: computes the share of events with detail. */
void totals_detail(struct fact_totals *totals);

#endif
