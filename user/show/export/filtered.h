/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sink that passes on only the facts that a filter lets through. Processes and windows always
 * pass: facts refer to the first, and without the second what was not seen looks like idle time.
 */
#ifndef UCXBPF_EXPORT_FILTERED_H
#define UCXBPF_EXPORT_FILTERED_H

#include "base/vec.h"
#include "show/report/report.h"

struct filtered {
	struct filter *filter;
	struct fact_sink to;
	VEC(bool) selected; /* processes, by index */
};

/* Returns the sink that passes on to *to, or *to itself where the filter lets all through. */
struct fact_sink filtered_start(struct filtered *filtered, struct filter *filter,
				const struct fact_sink *to);

void filtered_release(struct filtered *filtered);

#endif
