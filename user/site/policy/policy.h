/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The expectations of a site of its nodes and paths, read from a strict subset of YAML
 * (docs/policy.md): no anchors, aliases, tags or second document, 1 MiB and 16 levels at most; JSON
 * is a part of it. An unknown key or a value out of its range is an error with its line: a rule
 * that is silently not applied would look like one that passed.
 */
#ifndef UCXBPF_POLICY_POLICY_H
#define UCXBPF_POLICY_POLICY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vec.h"
#include "site/policy/catalogue.h"

#define POLICY_MAX_CLASSES 64

/* Nodes that are compared with each other. Zero or NULL: not given. */
struct policy_class {
	const char *name;
	int line;
	texts nodes; /* expanded: n[0-3] is n0, n1, n2, n3 */
	texts features, nics;
	int64_t gpus, rails;
	double nic_rate; /* bit/s */
	int64_t pcie_gen, pcie_width;
	struct policy_affinity {
		const char *gpu, *nic;
	} * map;
	size_t map_len;
};

enum policy_staging { STAGING_ANY, STAGING_NONE, STAGING_HOST };

/* How messages of a kind must travel; the first one that fits a message applies. */
struct policy_expect {
	int line;
	const char *loc; /* "self", "intra", "inter"; NULL: any */
	const char *src_mem, *dst_mem; /* "host", "cuda", "managed"...; NULL: any */
	uint64_t from, to; /* bytes, half-open; to UINT64_MAX: no end */
	texts tl, forbid, proto; /* shell patterns; empty: any, none, any */
	double min_share; /* of the bytes, 0 to 1 */
	const char *dst_copy; /* NULL: any */
	enum policy_staging staging;
	bool nearest_nic;
	int64_t sl; /* -1: any */
};

struct policy_reference {
	const char *name, *unit;
	double value, lower, upper; /* lower and upper: shares of value; NAN: no bound */
};

struct policy_waiver {
	int line;
	const struct catalogue_rule *rule;
	const char *subject, *reason; /* subject: a shell pattern */
	int64_t until; /* the last day it holds, in days since 1970 */
};

/* How the site wants a rule applied; the catalogue's defaults otherwise. */
struct policy_rule {
	bool off;
	enum severity severity;
};

enum policy_drain { DRAIN_PROPOSE, DRAIN_NEVER };

struct policy {
	const char *site;
	VEC(struct policy_class) classes;
	VEC(struct policy_node {
		const char *name;
		size_t class;
	})
	nodes; /* of all classes, by name */
	texts transports; /* additional ones of the site's UCX */
	VEC(struct policy_expect) expect;
	VEC(struct policy_reference) references;
	VEC(struct policy_waiver) waivers;
	struct policy_rule rules[CATALOGUE_RULES];
	struct rule_settings settings; /* likewise: the catalogue's if the site sets none */
	struct {
		const char *file; /* NULL: none */
		texts levels;
	} topology;
	struct {
		enum policy_drain drain;
		int64_t max_nodes;
		double max_share;
		const char *reason_prefix;
	} act;
	struct policy_tree *tree; /* the parsed document, which owns the strings */
	VEC(char *) made; /* strings that are not */
};

struct policy_error {
	int line; /* 0: no line */
	char text[240];
};

/* In the order of lines, at most so many. */
#define POLICY_MAX_ERRORS 20

struct policy_errors {
	VEC(struct policy_error) list;
};

/*
 * Reads a policy. -EINVAL: errors gives the reasons, line by line; any other -errno: the file
 * cannot be read. On an error there is no policy.
 */
int policy_read(const char *path, struct policy **policy, struct policy_errors *errors);

/* As policy_read(), of text in memory. */
int policy_parse(const char *text, size_t length, struct policy **policy,
		 struct policy_errors *errors);

/* The catalogue's defaults, without a policy. */
struct policy *policy_default(void);

void policy_free(struct policy *policy);
void policy_errors_release(struct policy_errors *errors);

/* The same policy always gives the same text: JSON, sorted keys, all defaults filled in. */
char *policy_normal_form(const struct policy *policy);

/* SHA-256 of the normal form: 64 hexadecimal digits and a zero. */
void policy_hash(const struct policy *policy, char hash[65]);

/* Whether and how a rule is applied; the policy's own. */
const struct policy_rule *policy_rule(const struct policy *policy,
				      const struct catalogue_rule *rule);

/* A setting of type PARAM_BOOL that several rules have; false where this one does not. */
bool policy_wants(const struct policy *policy, const struct catalogue_rule *rule, const char *name);

/* Access to settings in general; the setting has the type of its param. */
void *policy_setting(struct policy *policy, const struct catalogue_param *param);
uint64_t policy_size(const struct policy *policy, const struct catalogue_param *param);

/* The class of a node; NULL: no class names it. */
const struct policy_class *policy_class_of(const struct policy *policy, const char *node);

#endif
