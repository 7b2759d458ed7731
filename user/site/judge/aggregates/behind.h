/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is behind, in captures that were gathered together: becomes sums (SUM_BEHIND). */
#ifndef UCXBPF_JUDGE_AGGREGATES_BEHIND_H
#define UCXBPF_JUDGE_AGGREGATES_BEHIND_H

struct aggregates;

/* All facts are in, and members are where facts have them. */
void behind_finish(struct aggregates *aggregates);

#endif
