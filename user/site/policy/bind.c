// SPDX-License-Identifier: BSD-3-Clause
#include "site/policy/bind.h"

#include <string.h>

#include "site/policy/values.h"

bool bind_is(struct binder *binder, const struct policy_tree *tree, enum node_type type,
	     const char *what)
{
	static const char *const names[] = {
		[NODE_NONE] = "nothing",
		[NODE_SCALAR] = "a word or number",
		[NODE_LIST] = "a list",
		[NODE_MAP] = "a map",
	};

	if (tree->type == type)
		return true;
	errors_add(binder->errors, tree->line, "%s: %s is wanted here", what, names[type]);
	return false;
}

void bind_texts(struct binder *binder, const struct policy_tree *tree, const char *what, texts *to)
{
	if (tree->type == NODE_SCALAR) {
		vec_push(to, tree->text);
		return;
	}
	if (!bind_is(binder, tree, NODE_LIST, what))
		return;
	for (size_t i = 0; i < tree->entries.len; i++) {
		const struct policy_tree *item = tree->entries.data[i].value;

		if (bind_is(binder, item, NODE_SCALAR, what))
			vec_push(to, item->text);
	}
}

static int choice(const struct field *field, const char *text)
{
	for (int i = 0; field->choices[i]; i++)
		if (!strcmp(field->choices[i], text))
			return i;
	return -1;
}

static void say_choices(struct binder *binder, const struct field *field, int line,
			const char *text)
{
	char list[160] = "";

	for (int i = 0; field->choices[i]; i++) {
		size_t used = strlen(list);

		snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
			 field->choices[i]);
	}
	errors_add(binder->errors, line, "%s: '%.40s' is none of %s", field->name, text, list);
}

static void bind_choice(struct binder *binder, const struct field *field,
			const struct policy_tree *value, void *to)
{
	int found = choice(field, value->text);

	if (found < 0)
		say_choices(binder, field, value->line, value->text);
	else if (field->type == FIELD_CHOICE)
		*(const char **)to = field->choices[found];
	else
		*(int *)to = found;
}

static bool bind_number(const struct field *field, const char *text, double *to)
{
	return value_number(text, to) && *to >= field->least && *to <= field->most;
}

static bool bind_count(const struct field *field, const char *text, int64_t *to)
{
	return value_count(text, to) && *to >= field->least && (!field->most || *to <= field->most);
}

/* What a wrong one should have looked like; NULL: it is right. */
static const char *bind_word(struct binder *binder, const struct field *field, const char *text,
			     void *to)
{
	switch (field->type) {
	case FIELD_TEXT:
		*(const char **)to = text;
		return *text ? NULL : "a word";
	case FIELD_COUNT:
		return bind_count(field, text, to) ? NULL : "a whole number in its range";
	case FIELD_NUMBER:
		return bind_number(field, text, to) ? NULL : "a number in its range";
	case FIELD_RATE:
		return value_rate(text, to) ? NULL : "a rate such as 100Gb/s";
	case FIELD_DATE:
		return value_date(text, to) ? NULL : "a date such as 2026-12-01";
	case FIELD_NODES:
		return value_nodes(text, binder->policy, to) ? NULL : "nodes such as n[0-3],m7";
	default:
		return "something else";
	}
}

static void bind_field(struct binder *binder, const struct field *field,
		       const struct policy_tree *value, void *to)
{
	const char *wanted;

	if (field->type == FIELD_CUSTOM) {
		field->bind(binder, value, to);
		return;
	}
	if (field->type == FIELD_TEXTS) {
		bind_texts(binder, value, field->name, to);
		return;
	}
	if (!bind_is(binder, value, NODE_SCALAR, field->name))
		return;
	if (field->choices) {
		bind_choice(binder, field, value, to);
		return;
	}
	wanted = bind_word(binder, field, value->text, to);
	if (wanted)
		errors_add(binder->errors, value->line, "%s: '%.40s' is not %s", field->name,
			   value->text, wanted);
}

static const struct field *field_named(const struct field *fields, const char *name)
{
	for (; fields->name; fields++)
		if (!strcmp(fields->name, name))
			return fields;
	return NULL;
}

static bool has(const struct policy_tree *tree, const char *key)
{
	for (size_t i = 0; i < tree->entries.len; i++)
		if (!strcmp(tree->entries.data[i].key, key))
			return true;
	return false;
}

void bind_map(struct binder *binder, const struct policy_tree *tree, const char *what,
	      const struct field *fields, void *to)
{
	if (!bind_is(binder, tree, NODE_MAP, what))
		return;
	for (size_t i = 0; i < tree->entries.len; i++) {
		const struct policy_entry *entry = &tree->entries.data[i];
		const struct field *field = field_named(fields, entry->key);

		if (!field)
			errors_add(binder->errors, entry->line, "%s: no key '%.40s' is known here",
				   what, entry->key);
		else
			bind_field(binder, field, entry->value, (char *)to + field->offset);
	}
	for (; fields->name; fields++)
		if (fields->required && !has(tree, fields->name))
			errors_add(binder->errors, tree->line, "%s: '%s' is missing", what,
				   fields->name);
}
