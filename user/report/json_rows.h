/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the JSON report that are rows or totals; each returns a new reference. */
#ifndef UCXBPF_REPORT_JSON_ROWS_H
#define UCXBPF_REPORT_JSON_ROWS_H

#include <jansson.h>

#include "report/internal.h"

json_t *report_json_calls(const struct report *report);
json_t *report_json_ops(const struct report *report);
json_t *report_json_transfers(const struct report *report);
json_t *report_json_messages(const struct report *report);
json_t *report_json_slowest(const struct report *report);

/* Sets "loss", "matching", "attribution" and "notes". */
void report_json_totals(json_t *root, const struct fact_totals *totals);

#endif
