/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The captures that a command reads: named on its command line, put into one analysis, filtered by
 * options that are the same for all commands. Defects of captures are printed here, a line each.
 */
#ifndef UCXBPF_CMD_INPUT_CAPTURES_H
#define UCXBPF_CMD_INPUT_CAPTURES_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "show/report/report.h"

struct analysis;
struct fact_sink;
struct fact_totals;

/* Identity of a capture: its host, and its start there, ns of CLOCK_MONOTONIC. */
struct captured {
	char *host_id, *host_name;
	uint64_t start;
	const char *path;
	const char *why; /* it is incomplete, static; NULL: it is whole */
};

/* Files that could not be read: paths, the caller's strings. */
typedef VEC(const char *) unread;

struct captures {
	VEC(const char *) paths; /* the caller's strings */
	VEC(struct captured) added; /* those in the analysis that tell it */
	unread unread; /* paths of captures left out of the analysis */
	bool refuses_twins; /* report copies through captures_twice() only */
	bool broken; /* some of them are damaged, incomplete or unreadable */
	bool allow_loss; /* see captures_warn_of_loss() */
};

void captures_release(struct captures *captures);

/* Returns how many files are in the analysis. */
size_t captures_add(struct captures *captures, struct analysis *analysis);

/* Whether the same capture was added twice; prints that. */
bool captures_twice(struct captures *captures);

/*
 * Gives all facts of the added captures to the sink, with a progress line that names the command.
 * Damage inside a file shows only when that part is read: it is printed and marks the captures as
 * broken. Returns 0 or -errno (printed).
 */
int captures_analyse(struct captures *captures, struct analysis *analysis, const char *command,
		     const struct fact_sink *sink, struct fact_totals *totals);

/*
 * Gives all facts of the added captures to the sink by an analysis of its own, before that of
 * captures_analyse(): their strings are gone at the return. Returns 0 or -errno (printed).
 */
int captures_scan(const struct captures *captures, const char *command,
		  const struct fact_sink *sink);

/*
 * Finds what caused the facts that a filter selects, in a scan. Nothing is done where the filter
 * does not want that. Returns 0 or -errno (printed).
 */
int captures_find_causes(const struct captures *captures, const char *command,
			 struct report_filter *filter);

/*
 * Warns of records that are not in the captures. They are broken if more than one in a hundred was
 * lost, other than left out on purpose (--thin, or as the rings allowed), unless that is allowed.
 */
void captures_warn_of_loss(struct captures *captures, const struct fact_totals *totals);

/* Whether path is a capture: a result must not overwrite one. */
bool captures_has(const char *path);

/*
 * The options that select among facts, a child of a command's parser: as its first, their input is
 * child_inputs[0].
 */
struct filter_options {
	struct argp_option list[FILTER_FIELDS + 1];
	struct argp argp;
	struct argp_child children[2];
};

/* The list of this one child, which lives in options. Its input is a struct report_filter. */
const struct argp_child *filter_options_init(struct filter_options *options);

#endif
