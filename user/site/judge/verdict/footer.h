/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands above and below the table of findings. */
#ifndef UCXBPF_JUDGE_VERDICT_FOOTER_H
#define UCXBPF_JUDGE_VERDICT_FOOTER_H

#include "site/judge/internal.h"

/* What was judged, by what. */
void text_head(const struct judge *judge, FILE *out);

/* How much of the catalogue could be judged, what is missing, and the verdict. */
void text_footer(const struct judge *judge, const struct judge_output *how, FILE *out);

/* What of it could not be judged, and why. */
void text_coverage(const struct judge *judge, FILE *out);

/* Rules that said something else than SKIP. */
size_t rules_judged(const struct judge *judge);

/* Transfers that rules looked at. */
uint64_t transfers_judged(const struct judge *judge);

#endif
