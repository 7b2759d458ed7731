/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of fact_totals that judging goes by, by name, and sums of them. */
#ifndef UCXBPF_JUDGE_EXHIBITS_TOTALS_H
#define UCXBPF_JUDGE_EXHIBITS_TOTALS_H

#include <stddef.h>

#include "explain/match/facts.h"

#define TOTALS_NUMBERS 12
#define TOTALS_LISTS 5

struct totals_member {
	const char *name;
	size_t offset; /* of a uint64_t, or of an array of FACT_MAX_REASONS reasons */
};

extern const struct totals_member totals_numbers[TOTALS_NUMBERS];
extern const struct totals_member totals_lists[TOTALS_LISTS];

/* What such a name stands for; NULL: there is no such member. */
uint64_t *totals_number(struct fact_totals *totals, const char *name);
struct fact_reason *totals_list(struct fact_totals *totals, const char *name);

/* Adds a reason, which must live as long as the list; what finds no room joins the last one. */
void totals_reason(struct fact_reason *list, const char *reason, uint64_t count);

/* Reasons by their frequency, then by name. */
void totals_order(struct fact_totals *totals);

/* All counts of a list of them. */
uint64_t reasons_sum(const struct fact_reason *reasons);

#endif
