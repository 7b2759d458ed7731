/* SPDX-License-Identifier: BSD-3-Clause */
/* From a document to a struct, by a table of the keys that it may have. */
#ifndef UCXBPF_POLICY_BIND_H
#define UCXBPF_POLICY_BIND_H

#include "site/policy/tree.h"

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
	FIELD_CUSTOM, /* whatever bind() makes of it */
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

/* Every key must be a field; what is wrong goes into binder->errors. The table ends with a zero. */
void bind_map(struct binder *binder, const struct policy_tree *tree, const char *what,
	      const struct field *fields, void *to);

/* False, and said, if it is no such thing. */
bool bind_is(struct binder *binder, const struct policy_tree *tree, enum node_type type,
	     const char *what);

/* The items' texts: a list of words, or one word. */
void bind_texts(struct binder *binder, const struct policy_tree *tree, const char *what, texts *to);

/* ---- bind_rules.c ---- */
void bind_rules(struct binder *binder, const struct policy_tree *tree, void *to);

/* ---- bind_expect.c ---- */
void bind_expect(struct binder *binder, const struct policy_tree *tree, void *to);

/* ---- transports.c ---- */

/* Once all is bound: what lines of 'expect' call transports. */
void check_transports(struct binder *binder);

/* ---- bind_classes.c ---- */
void bind_classes(struct binder *binder, const struct policy_tree *tree, void *to);

#endif
