// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/sql_columns.h"

#include <string.h>

bool sql_has_key(enum subject subject)
{
	switch (sql_single(subject)) {
	case SUBJECT_CALL:
	case SUBJECT_OP:
	case SUBJECT_TRANSFER:
	case SUBJECT_MESSAGE:
		return true;
	default:
		return false;
	}
}

enum subject sql_single(enum subject subject)
{
	switch (subject) {
	case SUBJECT_CALLS:
		return SUBJECT_CALL;
	case SUBJECT_OPS:
		return SUBJECT_OP;
	case SUBJECT_TRANSFERS:
		return SUBJECT_TRANSFER;
	default:
		return subject;
	}
}

static bool is_name(const struct field *field)
{
	switch (field->type) {
	case FIELD_TEXT:
	case FIELD_INDEX:
	case FIELD_BOOL:
	case FIELD_PRECISION:
	case FIELD_LOCALITY:
	case FIELD_KIND:
	case FIELD_PLACE:
	case FIELD_STACK:
		return true;
	default:
		return false;
	}
}

bool sql_in(enum subject subject, const struct field *field, enum sql_part part)
{
	if (part == SQL_WHOLE)
		return true;
	if (part == SQL_KEY)
		return is_name(field);
	return !is_name(field) && !(field->single && subject_infos[subject].sums);
}

const char *sql_suffix(const struct field *field)
{
	return field->type == FIELD_TIME || field->type == FIELD_NS ? "_ns" : "";
}

static const char *type_of(const struct field *field)
{
	if (!strcmp(field->name, "id"))
		return "INTEGER PRIMARY KEY";
	return field->type == FIELD_TEXT || field_words(field->type) ? "TEXT" : "INTEGER";
}

static void put_column(FILE *out, const struct field *field, bool first)
{
	fprintf(out, "  %s%s%s %s -- %s\n", first ? "" : ", ", field->name, sql_suffix(field),
		type_of(field), field->help);
}

int sql_put_columns(FILE *out, enum subject subject, enum sql_part part, bool first)
{
	const struct subject_info *info = &subject_infos[subject];
	int count = 0;

	for (const struct field *field = info->fields; field->name; field++)
		if (sql_in(subject, field, part))
			put_column(out, field, !count++ && first);
	for (const struct field *field = info->sums; field && field->name; field++)
		if (part == SQL_EVENT)
			put_column(out, field, !count++ && first);
	return count;
}
