/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which facts a report is about. A field with several patterns passes when one of them fits;
 * several fields must all pass. A field says nothing about facts that do not have it: --transport
 * selects among transfers and leaves calls, operations and messages alone.
 */
#ifndef UCXBPF_REPORT_FILTER_H
#define UCXBPF_REPORT_FILTER_H

#include <stdbool.h>

#include "base/map.h"
#include "base/vec.h"
#include "explain/match/facts.h"

enum filter_field {
	FILTER_FUNCTION,
	FILTER_OP,
	FILTER_UCP_OP,
	FILTER_TRANSPORT,
	FILTER_DEVICE,
	FILTER_PROCESS,
	FILTER_HOST,
	FILTER_KIND,
	FILTER_MEMORY,
	FILTER_CALL_SITE,
	FILTER_FIELDS
};

struct filter_info {
	const char *name; /* option name and key in the report */
	const char *metavar; /* of the option's argument */
	const char *doc;
	const char *facts; /* the facts it selects among */
};

extern const struct filter_info filter_infos[FILTER_FIELDS];

struct filter_list {
	VEC(char *) patterns;
	struct map seen; /* interned string -> 1 fits, 2 does not */
};

struct filter {
	struct filter_list lists[FILTER_FIELDS];
};

/* A zeroed struct filter passes everything. */
void filter_release(struct filter *filter);

/*
 * Adds a comma-separated list of patterns: shell globs, upper and lower case alike; "none" fits
 * what is unknown or absent. Returns 0, or -EINVAL and a sentence for the user in *why (static).
 */
int filter_add(struct filter *filter, enum filter_field field, const char *list, const char **why);

/* Whether it lets through less than everything; NULL: it does not. */
bool filter_active(const struct filter *filter);

/* By name, number and host; the answer holds for every fact of that process. */
bool filter_process(const struct filter *filter, const struct fact_process *process);

bool filter_call(struct filter *filter, const struct fact_call *call);
bool filter_op(struct filter *filter, const struct fact_op *op);
bool filter_transfer(struct filter *filter, const struct fact_transfer *transfer);
bool filter_message(struct filter *filter, const struct fact_message *message);

#endif
