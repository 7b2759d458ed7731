/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules of site validation as data: the assertion, likely causes of a breach, the remedy, and
 * the settings that a policy may change.
 */
#ifndef UCXBPF_POLICY_CATALOGUE_H
#define UCXBPF_POLICY_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vec.h"

#define CATALOGUE_PARAMS 4 /* of a rule at most */
#define CATALOGUE_CAUSES 4

/* In the order in which they are judged: rules whose failures explain others come first. */
enum rule_id {
	RULE_COV_01,
	RULE_COV_02,
	RULE_COV_03,
	RULE_COV_04,
	RULE_COV_05,
	RULE_COV_06,
	RULE_CFG_01,
	RULE_RAIL_05,
	RULE_PATH_01,
	RULE_PATH_02,
	RULE_PATH_03,
	RULE_PATH_04,
	RULE_PATH_05,
	RULE_PATH_06,
	RULE_PATH_07,
	RULE_PATH_08,
	RULE_PATH_09,
	RULE_PATH_10,
	RULE_PATH_11,
	RULE_PATH_12,
	RULE_PATH_13,
	RULE_RAIL_01,
	RULE_RAIL_02,
	RULE_RAIL_03,
	RULE_RAIL_04,
	RULE_AFF_01,
	RULE_AFF_02,
	RULE_AFF_03,
	RULE_AFF_04,
	RULE_PROTO_01,
	RULE_PROTO_02,
	RULE_PROTO_03,
	RULE_PROTO_04,
	RULE_FAB_01,
	RULE_FAB_02,
	RULE_FAB_03,
	RULE_FAB_04,
	RULE_PERF_01,
	RULE_PERF_02,
	RULE_PERF_03,
	RULE_PERF_04,
	RULE_PERF_05,
	RULE_WAIT_01,
	RULE_WAIT_02,
	RULE_WAIT_03,
	CATALOGUE_RULES
};

enum rule_family {
	FAMILY_COV,
	FAMILY_CFG,
	FAMILY_RAIL,
	FAMILY_PATH,
	FAMILY_AFF,
	FAMILY_PROTO,
	FAMILY_FAB,
	FAMILY_PERF,
	FAMILY_WAIT,
	FAMILIES
};

enum severity { SEVERITY_INFO, SEVERITY_WARNING, SEVERITY_CRITICAL, SEVERITIES };

extern const char *const severity_names[SEVERITIES]; /* "info", "warning", "critical" */

typedef VEC(const char *) texts;

/* The settings of each rule by their names in a policy; catalogue.c has their units and defaults.
 */
struct rule_settings {
	struct {
		double low, high;
		texts untraced;
		uint64_t slack;
	} cov_02;
	struct {
		double share, open;
	} cov_04;
	struct {
		double share, critical;
	} cov_05;
	struct {
		uint64_t bytes;
		double share;
		texts management;
	} path_02;
	struct {
		uint64_t size;
		double share;
	} path_04;
	struct {
		uint64_t size;
	} path_05, path_06, path_07, path_12, rail_01;
	struct {
		uint64_t endpoints;
	} path_09;
	struct {
		double max_over_mean, critical;
		uint64_t size;
	} rail_02;
	struct {
		double max_over_mean;
	} rail_03;
	struct {
		double share;
	} aff_01, proto_03;
	struct {
		double tolerance;
		bool one_machine;
	} proto_01;
	struct {
		double factor;
	} proto_02;
	struct {
		double p99_over_p50, spread;
		bool one_machine;
	} fab_03;
	struct {
		double wait_share;
	} fab_04;
	struct {
		double mad, floor;
		bool confirm, one_machine;
	} perf_01;
	struct {
		uint64_t repeats;
		bool confirm, one_machine;
	} perf_02;
	struct {
		double share, gpu_over_host;
		bool one_machine;
	} perf_03;
	struct {
		double share;
		bool one_machine;
	} perf_04;
	struct {
		double lower, upper;
		bool one_machine;
	} perf_05;
	struct {
		double share;
	} wait_01, wait_02, wait_03;
};

enum param_type {
	PARAM_NONE,
	PARAM_NUMBER, /* double */
	PARAM_SHARE, /* double, 0 to 1 */
	PARAM_COUNT, /* uint64_t */
	PARAM_SIZE, /* uint64_t, bytes */
	PARAM_LIST, /* texts */
	PARAM_BOOL, /* bool */
};

struct catalogue_param {
	const char *name;
	size_t offset; /* in struct rule_settings */
	enum param_type type;
	double standard; /* NAN: "auto" */
};

/* The evidence that a rule needs. */
enum catalogue_needs {
	NEEDS_CAPTURE = 0,
	NEEDS_COUNTERS = 1, /* of ports */
	NEEDS_INVENTORY = 2,
	NEEDS_PLAN = 4, /* of a sweep */
	NEEDS_TIMES = 8, /* of many nodes, the same work */
	NEEDS_BASELINE = 16,
};

struct catalogue_rule {
	const char *id;
	enum rule_family family;
	const char *title;
	enum severity severity;
	unsigned int needs; /* enum catalogue_needs */
	struct catalogue_param params[CATALOGUE_PARAMS];
	const char *causes[CATALOGUE_CAUSES]; /* the likeliest first */
	const char *remedy;
	const char *reference; /* where the fault was described: a paper, or a project's issue */
};

/* By rule_id. */
extern const struct catalogue_rule catalogue[CATALOGUE_RULES];

/* NULL: unknown id. */
const struct catalogue_rule *catalogue_find(const char *id);

/* All rules as Markdown. Returns 0 or -errno of a failed write. */
int catalogue_print(FILE *out);

static inline enum rule_id catalogue_index(const struct catalogue_rule *rule)
{
	return rule - catalogue;
}

#endif
