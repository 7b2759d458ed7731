/* SPDX-License-Identifier: BSD-3-Clause */
/* A document as it was written: maps, lists and scalars, each with its line. */
#ifndef UCXBPF_POLICY_TREE_H
#define UCXBPF_POLICY_TREE_H

#include <stdbool.h>

#include "site/policy/policy.h"

enum node_type { NODE_NONE, NODE_SCALAR, NODE_LIST, NODE_MAP };

struct policy_tree {
	enum node_type type;
	int line;
	bool plain; /* a scalar without quotes: a number or a word */
	char *text; /* of a scalar */
	VEC(struct policy_entry {
		char *key; /* of a map; NULL in a list */
		int line;
		struct policy_tree *value;
	})
	entries;
};

/* NULL: errors says why. */
struct policy_tree *tree_parse(const char *text, size_t length, struct policy_errors *errors);
void tree_free(struct policy_tree *tree);

/* A mistake, and the line that it is in. */
void errors_add(struct policy_errors *errors, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
