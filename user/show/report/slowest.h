/* SPDX-License-Identifier: BSD-3-Clause */
/* The transfers that took longest, a fixed number of them. */
#ifndef UCXBPF_REPORT_SLOWEST_H
#define UCXBPF_REPORT_SLOWEST_H

#include <stddef.h>

#include "explain/match/facts.h"

#define SLOWEST_MAX 20

struct slowest {
	struct fact_transfer transfers[SLOWEST_MAX]; /* longest first; ties in order of arrival */
	size_t len;
};

/* Looks at one transfer; those without a known end are passed over. */
void slowest_offer(struct slowest *slowest, const struct fact_transfer *transfer);

uint64_t slowest_time(const struct fact_transfer *transfer);

#endif
