/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures to facts: all stages of explain/, run once over all captures of a job.
 *
 * Layers: totals.c; input.c; emit*.c, which turn results of the stages into facts; analysis.c,
 * which runs all.
 */
#ifndef UCXBPF_ANALYSIS_H
#define UCXBPF_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "explain/facts/facts.h"

struct analysis;
struct record_source;

/* Takes captures, then is run once. */
struct analysis *analysis_new(void);

/* Adds a capture file; several files (hosts) may be added in any order. *why as file_reader_open().
 */
int analysis_add_file(struct analysis *analysis, const char *path, const char **why);

/*
 * Adds the file of a capture that still runs, and another one's side records of one interval of it:
 * sums and looks. The end of such a file is not the capture's end.
 */
int analysis_add_interval(struct analysis *analysis, const char *path, const char *interval,
			  const char **why);

/* Adds records from another source, which it takes over. */
void analysis_add_source(struct analysis *analysis, const struct record_source *source);

/*
 * Makes analysis_run() report now and then how many calls, operations, transfers and messages it
 * has.
 */
void analysis_watch(struct analysis *analysis, void (*look)(void *arg, uint64_t facts), void *arg);

/* Decodes, attributes, matches; passes every fact to sink; fills totals. */
int analysis_run(struct analysis *analysis, const struct fact_sink *sink,
		 struct fact_totals *totals);

/* Data that a capture lacks. */
struct analysis_loss {
	const char *host_name; /* NULL: the capture does not give it */
	uint64_t lost; /* records that found no room */
	uint64_t thinned; /* records left out on purpose: in sums, without detail */
	/*
	 * windows with fewer layers, with all layers, of a capture that did not record all the time
	 */
	uint64_t windows, spans;
	uint64_t missing; /* records stored, but not in the file */
	uint64_t unseen; /* hits of probes that found no memory to make a record with */
	uint64_t damaged; /* bytes of the file that could not be read */
	bool broken; /* the file is cut short or damaged */
};

/* The captures that lack data, after analysis_run(); valid as long as the analysis. */
size_t analysis_losses(const struct analysis *analysis, const struct analysis_loss **losses);

void analysis_free(struct analysis *analysis);

#endif
