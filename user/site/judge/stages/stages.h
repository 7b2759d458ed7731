/* SPDX-License-Identifier: BSD-3-Clause */
/* The stages that findings pass through once all rules have run, in this order. */
#ifndef UCXBPF_JUDGE_STAGES_STAGES_H
#define UCXBPF_JUDGE_STAGES_STAGES_H

#include "site/judge/internal.h"

/*
 * If the policy has classes, a node in none of them passes no rule that compares it with its class.
 */
void stage_classless(struct judge *judge);

/* PASS becomes UNKNOWN where lost or untraced data may have taken another path. */
void stage_doubt(struct judge *judge);

/* A PERF failure of a node whose path is wrong is SKIP. */
void stage_explain(struct judge *judge);

/* Sets the cause of wrong paths to a UCX module that does not load, as inventories show it. */
void stage_modules(struct judge *judge);

/* The cause of a failure, as far as it is known by other findings or inventories of its node. */
void stage_causes(struct judge *judge);

/* FAIL and UNKNOWN become WAIVED if the policy has a waiver; today: days since 1970. */
void stage_waive(struct judge *judge, int64_t today);

#endif
