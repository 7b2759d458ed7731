/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the JSON report that are rows or totals. */
#ifndef UCXBPF_REPORT_JSON_ROWS_H
#define UCXBPF_REPORT_JSON_ROWS_H

#include "show/report/internal.h"
#include "show/report/json_out.h"

void report_json_calls(const struct report *report, struct json_out *out);
void report_json_ops(const struct report *report, struct json_out *out);
void report_json_transfers(const struct report *report, struct json_out *out);
void report_json_messages(const struct report *report, struct json_out *out);
void report_json_call_sites(const struct report *report, struct json_out *out);
void report_json_stacks(const struct report *report, struct json_out *out);
void report_json_memory(const struct report *report, struct json_out *out);
void report_json_devices(const struct report *report, struct json_out *out);
/* "nics" and "routes"; neither where nothing went between hosts */
void report_json_networks(const struct report *report, struct json_out *out);
void report_json_slowest(const struct report *report, struct json_out *out);

/* The members that say where a place is. */
void report_json_place(json_t *object, const struct place *place);

/* Members "count", "ops", "bytes" and "time" of a row. */
void report_json_sums(json_t *object, const struct cube_sums *sums);

/* "loss", "matching", "attribution" and "notes". */
void report_json_totals(const struct fact_totals *totals, struct json_out *out);

#endif
