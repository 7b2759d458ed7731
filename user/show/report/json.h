/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the JSON report, one object member by member, with one array item per line: a report of
 * millions of rows is never in memory as a tree. Takes ownership of the values. Other formats can
 * receive the pieces instead.
 */
#ifndef UCXBPF_REPORT_JSON_H
#define UCXBPF_REPORT_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "show/report/internal.h"
#include "show/report/report.h"

struct json_out {
	FILE *file;
	const struct report_visitor *visitor; /* instead of the file */
	const char *array; /* the current one */
	bool more_members, more_items;
	int err; /* of the first write that failed, -errno */
};

void json_out_array(struct json_out *out, const char *name);
void json_out_item(struct json_out *out, json_t *value);
void json_out_array_end(struct json_out *out);

/* "open": calls that have not returned. */
void report_json_open(const struct report *report, struct json_out *out);

/* The findings of looks at the processes, if any were made: "behind", "threads", "queued". */
void report_json_underway(const struct report *report, struct json_out *out);

/* The first time on a process's host: times of rows count from there. */
uint64_t json_host_first(const struct report *report, int process);

/* NULL: not known. */
json_t *report_json_rank(const struct report *report, int64_t process);

/* All tables of sums, and of places, memory and GPUs. */
void report_json_rows(const struct report *report, struct json_out *out);

#endif
