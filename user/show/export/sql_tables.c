// SPDX-License-Identifier: BSD-3-Clause
#include "show/export/sql_tables.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/place.h"
#include "show/export/sql_columns.h"

#define MAX_KEYS 32

/* first: a column before the subject's own; NULL: none. */
static sqlite3_stmt *make(struct sql *sql, const char *table, const char *first,
			  enum subject subject, enum sql_part part)
{
	char *text = NULL;
	size_t size;
	int columns;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	fprintf(out, "CREATE TABLE %s ( -- %s\n", table, subject_infos[subject].help);
	if (first)
		fprintf(out, "  %s\n", first);
	columns = sql_put_columns(out, subject, part, !first);
	fputs(")", out);
	fclose(out);
	sql_run(sql, text);
	free(text);
	return sql_insert(sql, table, columns + !!first);
}

static void make_keyed(struct sql_tables *tables, enum subject subject)
{
	const char *single = subject_infos[sql_single(subject)].name;
	char name[32], reference[64];

	snprintf(name, sizeof(name), "%s_%s", single,
		 sql_single(subject) == subject ? "event" : "sum");
	snprintf(reference, sizeof(reference), "key INTEGER NOT NULL REFERENCES %s_key", single);
	tables->rows[subject] = make(tables->sql, name, reference, subject, SQL_EVENT);
	if (sql_single(subject) != subject)
		return;
	snprintf(name, sizeof(name), "%s_key", single);
	tables->keys[subject] =
		make(tables->sql, name, "key INTEGER PRIMARY KEY", subject, SQL_KEY);
}

static void make_whole(struct sql_tables *tables, enum subject subject)
{
	tables->rows[subject] =
		make(tables->sql, subject_infos[subject].name, NULL, subject, SQL_WHOLE);
}

void sql_tables_open(struct sql_tables *tables, struct sql *sql)
{
	*tables = (struct sql_tables){ .sql = sql };
	for (int subject = 0; subject < SUBJECTS; subject++) {
		if (sql_has_key((enum subject)subject))
			make_keyed(tables, (enum subject)subject);
		else
			make_whole(tables, (enum subject)subject);
	}
	sql_run(sql, "CREATE TABLE stack ( -- a path that calls came by\n"
		     "  id INTEGER PRIMARY KEY,\n"
		     "  reason TEXT -- why there are no more frames; null: all are there\n)");
	sql_run(sql, "CREATE TABLE stack_frame ( -- its places\n"
		     "  stack INTEGER NOT NULL REFERENCES stack,\n"
		     "  depth INTEGER NOT NULL, -- 0: what called MPI\n"
		     "  place INTEGER NOT NULL REFERENCES place,\n"
		     "  PRIMARY KEY (stack, depth)) WITHOUT ROWID");
	tables->stack = sql_insert(sql, "stack", 2);
	tables->frame = sql_insert(sql, "stack_frame", 3);
}

static int bind_fields(sqlite3_stmt *row, int column, const struct field *fields, const void *fact)
{
	for (const struct field *field = fields; field->name; field++) {
		const struct field_value value = field_value(field, fact);

		sql_bind(row, column++, field, &value);
	}
	return column;
}

static uint64_t place_number(struct sql_tables *tables, const struct place *place)
{
	uint64_t *number = map_insert(&tables->places, (uintptr_t)place->key, 0, NULL);
	struct place_row row = { .place = *place };

	if (*number)
		return *number;
	*number = row.id = tables->places.used;
	bind_fields(tables->rows[SUBJECT_PLACE], 1, subject_infos[SUBJECT_PLACE].fields, &row);
	sql_step(tables->sql, tables->rows[SUBJECT_PLACE]);
	return *number;
}

static uint64_t stack_number(struct sql_tables *tables, const struct stack *stack)
{
	uint64_t *number = map_insert(&tables->stacks, (uintptr_t)stack->key, 0, NULL);

	if (*number)
		return *number;
	*number = tables->stacks.used;
	sqlite3_bind_int64(tables->stack, 1, (sqlite3_int64)*number);
	sql_bind_text(tables->stack, 2, stack->end);
	sql_step(tables->sql, tables->stack);
	for (int i = 0; i < stack->depth; i++) {
		sqlite3_bind_int64(tables->frame, 1, (sqlite3_int64)*number);
		sqlite3_bind_int(tables->frame, 2, i);
		sqlite3_bind_int64(tables->frame, 3,
				   (sqlite3_int64)place_number(tables, stack->frames[i]));
		sql_step(tables->sql, tables->frame);
	}
	return *number;
}

static struct field_value value_of(struct sql_tables *tables, const struct field *field,
				   const void *fact)
{
	struct field_value value = field_value(field, fact);

	if (field->type == FIELD_PLACE && !value.null)
		value.number = place_number(tables, value.pointer);
	if (field->type == FIELD_STACK && !value.null)
		value.number = stack_number(tables, value.pointer);
	return value;
}

static bool in_key(enum subject subject, const struct field *field, const struct fact_sums *sums)
{
	return sql_in(subject, field, SQL_KEY) && !(sums && field->single);
}

static void add_key(struct sql_tables *tables, enum subject subject, uint64_t number,
		    const void *fact, const struct fact_sums *sums)
{
	const struct field_value none = { .null = true };
	sqlite3_stmt *row = tables->keys[subject];
	int column = 1;

	sqlite3_bind_int64(row, column++, (sqlite3_int64)number);
	for (const struct field *field = subject_infos[subject].fields; field->name; field++) {
		const struct field_value value =
			in_key(subject, field, sums) ? value_of(tables, field, fact) : none;

		if (sql_in(subject, field, SQL_KEY))
			sql_bind(row, column++, field, &value);
	}
	sql_step(tables->sql, row);
}

/* Two words per field: whether there is a value, and the value or the pointer to a name. */
static XXH128_hash_t hash(enum subject subject, const void *fact, const struct fact_sums *sums)
{
	uint64_t words[2 * MAX_KEYS];
	int count = 0;

	for (const struct field *field = subject_infos[subject].fields; field->name; field++) {
		struct field_value value;

		if (!sql_in(subject, field, SQL_KEY) || count == 2 * MAX_KEYS)
			continue;
		value = field_value(field, fact);
		words[count++] = value.null || !in_key(subject, field, sums);
		words[count] = value.number + (uintptr_t)value.text;
		if (value.pointer && field->type == FIELD_PLACE)
			words[count] = (uintptr_t)((const struct place *)value.pointer)->key;
		if (value.pointer && field->type == FIELD_STACK)
			words[count] = (uintptr_t)((const struct stack *)value.pointer)->key;
		if (words[count - 1])
			words[count] = 0;
		count++;
	}
	return XXH3_128bits(words, count * sizeof(words[0]));
}

static uint64_t key_number(struct sql_tables *tables, enum subject subject, const void *fact,
			   const struct fact_sums *sums)
{
	XXH128_hash_t key = hash(subject, fact, sums);
	uint64_t *known = map_insert(&tables->known[subject], key.low64, key.high64, NULL);

	if (!*known) {
		*known = tables->known[subject].used;
		add_key(tables, subject, *known, fact, sums);
	}
	return *known;
}

void sql_tables_add(struct sql_tables *tables, enum subject subject, const void *fact,
		    const struct fact_sums *sums)
{
	const struct subject_info *info = &subject_infos[subject];
	sqlite3_stmt *row = tables->rows[subject];
	int column = 1;

	if (tables->sql->err)
		return;
	if (!sql_has_key(subject)) {
		bind_fields(row, 1, info->fields, fact);
		sql_step(tables->sql, row);
		return;
	}
	sqlite3_bind_int64(row, column++,
			   (sqlite3_int64)key_number(tables, sql_single(subject), fact, sums));
	for (const struct field *field = info->fields; field->name; field++) {
		struct field_value value;

		if (!sql_in(subject, field, SQL_EVENT))
			continue;
		value = field_value(field, fact);
		sql_bind(row, column++, field, &value);
	}
	if (sums)
		bind_fields(row, column, info->sums, sums);
	sql_step(tables->sql, row);
}

void sql_tables_release(struct sql_tables *tables)
{
	for (int i = 0; i < SUBJECTS; i++) {
		sqlite3_finalize(tables->rows[i]);
		sqlite3_finalize(tables->keys[i]);
		map_release(&tables->known[i]);
	}
	sqlite3_finalize(tables->stack);
	sqlite3_finalize(tables->frame);
	map_release(&tables->places);
	map_release(&tables->stacks);
	*tables = (struct sql_tables){ .sql = tables->sql };
}
