/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filters facts. A field with several patterns passes if one of them matches; all fields must pass.
 * What is selected in a lower layer selects what caused it: --transport the operations whose
 * transfers pass, the calls that made these operations, and the messages that they sent or
 * received.
 */
#ifndef UCXBPF_REPORT_FILTER_H
#define UCXBPF_REPORT_FILTER_H

#include <stdbool.h>

#include "base/map.h"
#include "base/strings.h"
#include "base/vec.h"
#include "explain/facts/columns.h"

enum filter_field {
	FILTER_FUNCTION,
	FILTER_OP,
	FILTER_UCP_OP,
	FILTER_PROTOCOL,
	FILTER_TRANSPORT,
	FILTER_DEVICE,
	FILTER_PROCESS,
	FILTER_HOST,
	FILTER_KIND,
	FILTER_MEMORY,
	FILTER_CALL_SITE,
	FILTER_FIELDS
};

enum filter_layer { FILTER_CALLS, FILTER_OPS, FILTER_TRANSFERS };

struct filter_info {
	const char *name; /* option name and key in the report */
	const char *metavar; /* argument of the option */
	const char *doc;
	const char *facts; /* the facts it applies to */
	unsigned int keys; /* bit set of enum fact_key: one of them must match */
	enum filter_layer layer; /* the uppermost one whose facts have the field */
};

extern const struct filter_info filter_infos[FILTER_FIELDS];

struct filter_list {
	VEC(char *) patterns;
	struct map seen; /* interned string, a place's label and key -> 1: matches, 2: does not */
};

/* Operations and calls that pass, or caused something that passes, by their ids. */
struct filter_causes {
	bool known; /* else only a fact's own fields count */
	struct map ops, calls;
};

struct report_filter {
	struct filter_list lists[FILTER_FIELDS];
	struct strings process_names; /* "rank:3", "pid:12" */
	struct filter_causes causes;
};

/* A zeroed struct report_filter passes everything. */
void filter_release(struct report_filter *filter);

/*
 * Adds a comma-separated list of patterns: case-insensitive globs; "none" matches unknown and
 * absent values. Returns 0, or -EINVAL with an error message in *why (static).
 */
int filter_add(struct report_filter *filter, enum filter_field field, const char *list,
	       const char **why);

/* Whether it excludes anything; NULL: it does not. */
bool filter_active(const struct report_filter *filter);

/*
 * The names that facts had in a field, sorted, to be listed if nothing passed: for call sites their
 * labels, for processes rank:N or pid:N. Returns their number, at most room; names belong to the
 * analysis and to the filter.
 */
size_t filter_names(const struct report_filter *filter, enum filter_field field, const char **names,
		    size_t room);

/* The lowest layer whose fields it uses. */
enum filter_layer filter_lowest(const struct report_filter *filter);

/* Whether it uses fields of layers below calls, so that causes are needed. */
bool filter_wants_causes(const struct report_filter *filter);

/*
 * Finds the causes: all facts of the same captures must go through the sink before those to be
 * selected. filter_scan_end() makes the causes available.
 */
struct filter_scan;
struct filter_scan *filter_scan_begin(struct report_filter *filter, struct fact_sink *sink);
void filter_scan_end(struct filter_scan *scan);

/* Decides which facts pass, by their keys and by the processes seen so far. */
struct selection {
	struct report_filter *filter; /* must outlive it */
	bool active;
	VEC(bool) processes; /* by index: whether their facts pass */
};

void selection_init(struct selection *selection, struct report_filter *filter); /* NULL: all pass */

/* The filter forgets the names seen so far, which belong to the analysis. */
void selection_release(struct selection *selection);

/*
 * Processes always pass, as facts refer to them, and so do facts without any filtered key. A fact
 * about two processes passes with either, and facts of unknown processes pass.
 */
bool selection_passes(struct selection *selection, enum fact_type type, const void *fact);

#endif
