/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of findings once all rules have spoken, in this order. */
#ifndef UCXBPF_JUDGE_OUTCOME_OUTCOME_H
#define UCXBPF_JUDGE_OUTCOME_OUTCOME_H

#include "site/judge/internal.h"

/* PASS is UNKNOWN where what was lost, or is in no capture, may have gone another way. */
void judge_doubt(struct judge *judge);

/* A PERF failure of a node whose path is wrong is SKIP. */
void judge_explain(struct judge *judge);

/* What inventories tell of modules that would not load is the cause of wrong paths. */
void judge_modules(struct judge *judge);

/* The cause of a failure, as far as it is known by other findings or inventories of its node. */
void judge_causes(struct judge *judge);

/* FAIL and UNKNOWN are WAIVED where the policy says so; today: days since 1970. */
void judge_waive(struct judge *judge, int64_t today);

#endif
