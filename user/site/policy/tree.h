/* SPDX-License-Identifier: BSD-3-Clause */
/* A document as written, and its conversion to a struct by a table of permitted keys. */
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

/* A mistake, and its line. */
void errors_add(struct policy_errors *errors, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

enum field_type {
	FIELD_TEXT, /* const char * */
	FIELD_CHOICE, /* const char *, one of choices */
	FIELD_ENUM, /* int, position in choices */
	FIELD_COUNT, /* int64_t */
	FIELD_NUMBER, /* double, of least to most */
	FIELD_RATE, /* double */
	FIELD_DATE, /* int64_t */
	FIELD_TEXTS, /* texts */
	FIELD_NODES, /* texts */
	FIELD_CUSTOM, /* the result of bind() */
};

struct binder {
	struct policy *policy;
	struct policy_errors *errors;
};

struct field {
	const char *name;
	enum field_type type;
	size_t offset;
	bool required;
	const char *const *choices; /* NULL at the end */
	double least, most;
	void (*bind)(struct binder *binder, const struct policy_tree *value, void *to);
};

/* Every key must be a field; errors go to binder->errors. The table ends with a zero. */
void bind_map(struct binder *binder, const struct policy_tree *tree, const char *what,
	      const struct field *fields, void *to);

/* False, with an error message, if it is malformed. */
bool bind_is(struct binder *binder, const struct policy_tree *tree, enum node_type type,
	     const char *what);

/* The items' texts: a list of words, or one word. */
void bind_texts(struct binder *binder, const struct policy_tree *tree, const char *what, texts *to);

/* ---- sections.c ---- */

void bind_rules(struct binder *binder, const struct policy_tree *tree, void *to);
void bind_expect(struct binder *binder, const struct policy_tree *tree, void *to);
void bind_classes(struct binder *binder, const struct policy_tree *tree, void *to);

/* After all is bound: checks the transports that lines of 'expect' name. */
void check_transports(struct binder *binder);

#endif
