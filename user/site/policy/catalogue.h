/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules of site validation, as data: what each one asserts, what a breach of it is likely
 * caused by, what to do, and which numbers of it a policy may set.
 */
#ifndef UCXBPF_POLICY_CATALOGUE_H
#define UCXBPF_POLICY_CATALOGUE_H

#include <stddef.h>
#include <stdio.h>

#define CATALOGUE_RULES 40
#define CATALOGUE_PARAMS 4
#define CATALOGUE_CAUSES 4

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_CRITICAL, SEVERITIES };

extern const char *const severity_names[SEVERITIES]; /* "info", "warning", "critical" */

enum param_type {
	PARAM_NONE,
	PARAM_NUMBER,
	PARAM_SHARE, /* 0 to 1 */
	PARAM_COUNT,
	PARAM_SIZE, /* bytes */
	PARAM_LIST,
	PARAM_BOOL,
};

struct catalogue_param {
	const char *name;
	enum param_type type;
	double standard; /* NAN: "auto" */
};

/* What a rule has to see before it can judge. */
enum catalogue_needs {
	NEEDS_CAPTURE = 0,
	NEEDS_COUNTERS = 1, /* of ports */
	NEEDS_INVENTORY = 2,
	NEEDS_PLAN = 4, /* of a sweep */
	NEEDS_TIMES = 8, /* of many nodes, the same work */
	NEEDS_BASELINE = 16,
};

struct catalogue_rule {
	const char *id, *title;
	enum severity severity;
	unsigned int needs; /* enum catalogue_needs */
	struct catalogue_param params[CATALOGUE_PARAMS];
	const char *causes[CATALOGUE_CAUSES]; /* the likeliest first */
	const char *remedy;
	const char *reference; /* where the fault was seen: a paper, or an issue of a project */
};

/* In the order in which they are judged: what explains others comes first. */
extern const struct catalogue_rule catalogue[CATALOGUE_RULES];

/* NULL: there is none of that id. */
const struct catalogue_rule *catalogue_find(const char *id);

/* All rules as Markdown. Returns 0 or -errno of a failed write. */
int catalogue_print(FILE *out);

static inline size_t catalogue_index(const struct catalogue_rule *rule)
{
	return rule - catalogue;
}

#endif
