/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the report's sink. */
#ifndef UCXBPF_REPORT_FEED_H
#define UCXBPF_REPORT_FEED_H

#include "show/report/internal.h"

/* Whether facts of that process pass the filter; one that is not known does. */
bool report_selects(const struct report *report, int process);

/* The span of a host's trace is over all its facts, whatever the filter. */
void report_see_time(struct report *report, int process, uint64_t start, uint64_t end);

/* ---- members of struct fact_sink; arg: the struct report ---- */
void report_feed_call(void *arg, const struct fact_call *call);
void report_feed_op(void *arg, const struct fact_op *op);
void report_feed_transfer(void *arg, const struct fact_transfer *transfer);
void report_feed_message(void *arg, const struct fact_message *message);
void report_feed_calls(void *arg, const struct fact_call *call, const struct fact_sums *from);
void report_feed_ops(void *arg, const struct fact_op *op, const struct fact_sums *from);
void report_feed_transfers(void *arg, const struct fact_transfer *transfer,
			   const struct fact_sums *from);

#endif
