// SPDX-License-Identifier: BSD-3-Clause
#include "site/policy/tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/alloc.h"
#include "site/policy/values.h"

#define MAX_BYTES (1 << 20)
#define MAX_DEPTH 16

struct reader {
	yaml_parser_t parser;
	struct policy_errors *errors;
};

void errors_add(struct policy_errors *errors, int line, const char *format, ...)
{
	struct policy_error *error;
	va_list args;

	if (errors->list.len >= POLICY_MAX_ERRORS)
		return;
	error = vec_add(&errors->list);
	error->line = line;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
}

void tree_free(struct policy_tree *tree)
{
	if (!tree)
		return;
	for (size_t i = 0; i < tree->entries.len; i++) {
		free(tree->entries.data[i].key);
		tree_free(tree->entries.data[i].value);
	}
	vec_release(&tree->entries);
	free(tree->text);
	free(tree);
}

static int line_of(const yaml_event_t *event)
{
	return event->start_mark.line + 1;
}

/* False: said why. */
static bool next(struct reader *reader, yaml_event_t *event)
{
	if (yaml_parser_parse(&reader->parser, event))
		return true;
	if (reader->parser.error == YAML_MEMORY_ERROR)
		alloc_failed();
	errors_add(reader->errors, reader->parser.problem_mark.line + 1, "not YAML: %s",
		   reader->parser.problem ? reader->parser.problem : "cannot be read");
	return false;
}

/* Parts of YAML that could change a document's meaning unnoticed. */
static const char *forbidden(const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_ALIAS_EVENT:
		return "aliases (*name) are not allowed";
	case YAML_SCALAR_EVENT:
		if (event->data.scalar.anchor)
			return "anchors (&name) are not allowed";
		return event->data.scalar.tag ? "tags (!name) are not allowed" : NULL;
	case YAML_SEQUENCE_START_EVENT:
		if (event->data.sequence_start.anchor)
			return "anchors (&name) are not allowed";
		return event->data.sequence_start.tag ? "tags (!name) are not allowed" : NULL;
	case YAML_MAPPING_START_EVENT:
		if (event->data.mapping_start.anchor)
			return "anchors (&name) are not allowed";
		return event->data.mapping_start.tag ? "tags (!name) are not allowed" : NULL;
	default:
		return NULL;
	}
}

static struct policy_tree *value_of(struct reader *reader, yaml_event_t *event, int depth);

static bool add_entry(struct reader *reader, struct policy_tree *tree, char *key, int line,
		      yaml_event_t *event, int depth)
{
	struct policy_entry *entry = vec_add(&tree->entries);

	entry->key = key;
	entry->line = line;
	entry->value = value_of(reader, event, depth);
	return entry->value;
}

static bool read_list(struct reader *reader, struct policy_tree *tree, int depth)
{
	yaml_event_t event;
	bool whole;

	while (next(reader, &event)) {
		if (event.type == YAML_SEQUENCE_END_EVENT) {
			yaml_event_delete(&event);
			return true;
		}
		whole = add_entry(reader, tree, NULL, line_of(&event), &event, depth);
		if (!whole)
			return false;
	}
	return false;
}

static bool has_key(const struct policy_tree *tree, const char *key)
{
	for (size_t i = 0; i < tree->entries.len; i++)
		if (!strcmp(tree->entries.data[i].key, key))
			return true;
	return false;
}

/* The key, for the caller to free; NULL: an error was added. */
static char *read_key(struct reader *reader, const struct policy_tree *tree, yaml_event_t *event)
{
	const char *why = forbidden(event);
	char *key = NULL;

	if (!why && event->type != YAML_SCALAR_EVENT)
		why = "a key must be a word";
	else if (!why && strlen((char *)event->data.scalar.value) != event->data.scalar.length)
		why = "a key must not hold a zero byte";
	if (why) {
		errors_add(reader->errors, line_of(event), "%s", why);
	} else if (has_key(tree, (char *)event->data.scalar.value)) {
		errors_add(reader->errors, line_of(event), "'%s' is there twice",
			   event->data.scalar.value);
	} else {
		key = xstrdup((char *)event->data.scalar.value);
	}
	yaml_event_delete(event);
	return key;
}

static bool read_map(struct reader *reader, struct policy_tree *tree, int depth)
{
	yaml_event_t event;
	char *key;
	int line;

	while (next(reader, &event)) {
		if (event.type == YAML_MAPPING_END_EVENT) {
			yaml_event_delete(&event);
			return true;
		}
		line = line_of(&event);
		key = read_key(reader, tree, &event);
		if (!key)
			return false;
		if (!next(reader, &event)) {
			free(key);
			return false;
		}
		if (!add_entry(reader, tree, key, line, &event, depth))
			return false;
	}
	return false;
}

static bool read_scalar(struct reader *reader, struct policy_tree *tree, const yaml_event_t *event)
{
	size_t length = event->data.scalar.length;

	tree->text = xstrndup((char *)event->data.scalar.value, length);
	tree->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	if (strlen(tree->text) == length)
		return true;
	errors_add(reader->errors, tree->line, "a value must not hold a zero byte");
	return false;
}

/* The value that an event begins, which is deleted; NULL: an error was added. */
static struct policy_tree *value_of(struct reader *reader, yaml_event_t *event, int depth)
{
	struct policy_tree *tree = xcalloc(1, sizeof(*tree));
	const char *why = forbidden(event);
	yaml_event_type_t type = event->type;
	bool whole = false;

	tree->line = line_of(event);
	if (!why && depth >= MAX_DEPTH)
		why = "deeper than 16 levels";
	if (why)
		errors_add(reader->errors, tree->line, "%s", why);
	else if (type == YAML_SCALAR_EVENT)
		whole = read_scalar(reader, tree, event);
	yaml_event_delete(event);
	if (!why && type == YAML_SEQUENCE_START_EVENT) {
		tree->type = NODE_LIST;
		whole = read_list(reader, tree, depth + 1);
	} else if (!why && type == YAML_MAPPING_START_EVENT) {
		tree->type = NODE_MAP;
		whole = read_map(reader, tree, depth + 1);
	} else {
		tree->type = NODE_SCALAR;
	}
	if (whole)
		return tree;
	tree_free(tree);
	return NULL;
}

/* The one document of the stream. */
static struct policy_tree *read_document(struct reader *reader)
{
	struct policy_tree *tree = NULL;
	yaml_event_t event;

	while (next(reader, &event)) {
		yaml_event_type_t type = event.type;

		if (type == YAML_STREAM_END_EVENT) {
			yaml_event_delete(&event);
			if (!tree)
				errors_add(reader->errors, 0, "empty: there is no policy in it");
			return tree;
		}
		if (type == YAML_STREAM_START_EVENT || type == YAML_DOCUMENT_END_EVENT ||
		    (type == YAML_DOCUMENT_START_EVENT && !tree)) {
			yaml_event_delete(&event);
			continue;
		}
		if (tree) {
			errors_add(reader->errors, line_of(&event), "a second document");
			yaml_event_delete(&event);
			break;
		}
		tree = value_of(reader, &event, 0);
		if (!tree)
			return NULL;
	}
	tree_free(tree);
	return NULL;
}

struct policy_tree *tree_parse(const char *text, size_t length, struct policy_errors *errors)
{
	struct reader reader = { .errors = errors };
	struct policy_tree *tree;

	if (length > MAX_BYTES) {
		errors_add(errors, 0, "larger than 1 MiB");
		return NULL;
	}
	if (!yaml_parser_initialize(&reader.parser))
		alloc_failed();
	yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, length);
	tree = read_document(&reader);
	yaml_parser_delete(&reader.parser);
	return tree;
}

/* ---- to a struct ---- */

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
	errors_add(binder->errors, line, "%s: '%.40s' is not one of %s", field->name, text, list);
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

/* The expected form of a wrong value; NULL: it is right. */
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
		return value_nodes(text, binder->policy, to)
			       ? NULL
			       : "a list of nodes such as n[0-3],m7, up to 65,536";
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
		if (fields->required && !has_key(tree, fields->name))
			errors_add(binder->errors, tree->line, "%s: '%s' is missing", what,
				   fields->name);
}
