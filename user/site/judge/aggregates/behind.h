/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds sums (SUM_BEHIND) about the ranks that are behind, in captures that were gathered together.
 */
#ifndef UCXBPF_JUDGE_AGGREGATES_BEHIND_H
#define UCXBPF_JUDGE_AGGREGATES_BEHIND_H

struct aggregates;

/* All facts are in, and members are where facts have them. */
void behind_finish(struct aggregates *aggregates);

#endif
