/* SPDX-License-Identifier: BSD-3-Clause */
/* Totals of an analysis, as text and as rows: losses, unknowns, GPUs. */
#ifndef UCXBPF_EXPORT_TOTALS_H
#define UCXBPF_EXPORT_TOTALS_H

#include <jansson.h>

#include "explain/facts/facts.h"

/* ---- totals as they are, for timelines ---- */

/* topic: "loss", "matching"...; what: "stored" or a reason. Both live as long as the analysis. */
typedef void (*unknowns_put)(void *arg, const char *topic, const char *what, uint64_t number);

/* Heading: whether there are single events at all. facts: their number. */
const char *unknowns_heading(const struct fact_totals *totals, uint64_t facts);

void unknowns_each(const struct fact_totals *totals, unknowns_put put, void *arg);

/* ---- members of the report that are not tables, as rows: section, name, reason, value ---- */

struct totals_sink {
	void *arg;
	/* name and reason may be NULL */
	void (*row)(void *arg, const char *section, const char *name, const char *reason,
		    const json_t *value);
};

/* The rows of one member of the report. */
void totals_rows(const struct totals_sink *sink, const char *section, const json_t *value);

/* ---- columns ---- */

/* The members of a row of a table of the report, as CSV has them (csv.c); NULL behind the last one.
 */
const char *const *csv_columns(const char *table);

/* ---- GPUs ---- */

struct gpu_text {
	char *name; /* "gpu0" */
	char *users; /* "process 3 as 0, process 4 as 1": process ids, and their own number for the
			GPU */
};

/* The caller frees both. */
struct gpu_text gpu_text(const struct fact_device *device);

#endif
