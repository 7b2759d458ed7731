/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums of a page, row by row, against those of its report. */
#ifndef TESTS_UNIT_PAGE_COMPARE_H
#define TESTS_UNIT_PAGE_COMPARE_H

#include "unit/page_sections.h"

/* A row of the report: its text without the numbers, to object of numbers. */
static inline json_t *report_of(const struct page *page)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *json;

	report_json(page->report, out);
	fclose(out);
	json = json_loads(text, 0, NULL);
	assert_non_null(json);
	free(text);
	return json;
}

static inline json_t *list_of(const char *words)
{
	json_t *array = json_array();
	size_t length;

	for (; *words; words += length + (words[length] == ',')) {
		length = strcspn(words, ",");
		json_array_append_new(array, json_stringn(words, length));
	}
	return array;
}

/* How the report shows a code. */
static inline json_t *shown(const char *column, const char *section, uint64_t code, json_t *names)
{
	static const char *const localities[] = { "unknown", "self", "node", "remote" };
	static const char *const kinds[] = { "data", "control", "copy" };
	static const char *const can_be_null[] = { "function",   "ucp_op",     "memory_reason",
						   "src_reason", "dst_reason", "memory_known_by",
						   "chain",      "via",        "chain_reason" };

	if (!strcmp(column, "locality"))
		return json_string(localities[code]);
	if (!strcmp(column, "kind"))
		return json_string(kinds[code]);
	if (!strcmp(column, "process") || !strcmp(column, "peer") || !strcmp(column, "src") ||
	    !strcmp(column, "dst"))
		return code ? json_integer((json_int_t)code - 1) : json_null();
	if (code && (!strcmp(column, "chain") || !strcmp(column, "via")))
		return list_of(json_string_value(json_array_get(names, code)));
	if (code)
		return json_incref(json_array_get(names, code));
	for (size_t i = 0; i < sizeof(can_be_null) / sizeof(*can_be_null); i++)
		if (!strcmp(column, can_be_null[i]) &&
		    (strcmp(section, "calls") || strcmp(column, "function")))
			return json_null();
	return json_string("unknown");
}

/* Columns of keys that a row of the report has too. */
static inline const char *name_in_report(const char *section, const char *column)
{
	return !strcmp(section, "ops") && !strcmp(column, "ucp_op") ? "op" : column;
}

/* What tells rows of the report apart, as one text. */
static inline char *key_text(const struct table *table, const char *section, size_t key,
			     json_t *like, json_t *names)
{
	json_t *object = json_object();
	char *text;

	for (int c = 0; c < FACT_KEYS; c++) {
		const char *name = fact_key_names[c];
		const char *member = name_in_report(section, name);

		if (table_find(table, name) && json_object_get(like, member))
			json_object_set_new(
				object, member,
				shown(name, section, table_at(table, name, key), names));
	}
	text = json_dumps(object, JSON_SORT_KEYS);
	json_decref(object);
	return text;
}

static inline char *row_text(json_t *row, const struct table *table, const char *section)
{
	json_t *object = json_object();
	char *text;

	for (int c = 0; c < FACT_KEYS; c++) {
		const char *member = name_in_report(section, fact_key_names[c]);

		if (table_find(table, fact_key_names[c]) && json_object_get(row, member))
			json_object_set(object, member, json_object_get(row, member));
	}
	text = json_dumps(object, JSON_SORT_KEYS);
	json_decref(object);
	return text;
}

static inline void add(json_t *sums, const char *name, uint64_t value)
{
	json_int_t before = json_integer_value(json_object_get(sums, name));

	json_object_set_new(sums, name, json_integer(before + (json_int_t)value));
}

static const char *const measures[] = { "count",
					"bytes",
					"bytes_unknown",
					"ops",
					"errors",
					"retries",
					"unexplained_bytes",
					"wire_bytes",
					"timed",
					"time_sum",
					"exact",
					"exact_time_sum",
					"exact_bytes",
					"copies",
					"copy_bytes" };
#define MEASURES (sizeof(measures) / sizeof(*measures))

#define EXACT_BITS (1u << TIME_EXACT | 1u << TIME_SAMPLED)

/* Where all of a cell are exact, the sums of the exact ones are other sums. */
static inline uint64_t measured(const struct table *table, const char *measure, size_t cell)
{
	const char *whole = !strcmp(measure, "exact")            ? "timed"
			    : !strcmp(measure, "exact_time_sum") ? "time_sum"
			    : !strcmp(measure, "exact_bytes")    ? "bytes"
								 : NULL;
	uint64_t bits = whole ? table_at(table, "precision", cell) : 0;

	if (bits && !(bits & ~EXACT_BITS) &&
	    table_at(table, "timed", cell) == table_at(table, "count", cell)) {
		assert_int_equal(table_at(table, measure, cell), 0);
		return table_at(table, whole, cell);
	}
	return table_at(table, measure, cell);
}

/* Cells by the rows of the report that they belong to. */
static inline json_t *sum_cells(const struct table *table, const char *section, json_t *like,
				json_t *names)
{
	json_t *rows = json_object();

	for (size_t i = 0; i < table_rows(table, "time"); i++) {
		char *key = key_text(table, section, table_at(table, "key", i), like, names);
		json_t *sums = json_object_get(rows, key);

		if (!sums)
			json_object_set_new(rows, key, sums = json_object());
		for (size_t m = 0; m < MEASURES; m++)
			if (table_find(table, measures[m]) &&
			    table_rows(table, measures[m]) == table_rows(table, "time"))
				add(sums, measures[m], measured(table, measures[m], i));
		free(key);
	}
	return rows;
}

static inline json_int_t expected(json_t *row, const char *measure)
{
	json_t *time = json_object_get(row, "time");

	if (!strcmp(measure, "timed"))
		return json_integer_value(json_object_get(time, "known"));
	if (!strcmp(measure, "time_sum"))
		return json_integer_value(json_object_get(time, "sum_ns"));
	if (!strcmp(measure, "exact") || !strcmp(measure, "exact_bytes"))
		return json_integer_value(json_object_get(time, measure));
	if (!strcmp(measure, "exact_time_sum"))
		return json_integer_value(json_object_get(time, "exact_sum_ns"));
	return json_integer_value(json_object_get(row, measure));
}

static inline void check_section(const struct page *page, json_t *report, const char *section)
{
	json_t *names = text_of(page, "names"), *rows = json_object_get(report, section), *row;
	struct table table;
	json_t *sums;
	size_t i;

	table_read(&table, page, section);
	sums = sum_cells(&table, section, json_array_get(rows, 0), names);
	assert_int_equal(json_object_size(sums), json_array_size(rows));
	json_array_foreach(rows, i, row)
	{
		char *key = row_text(row, &table, section);
		json_t *got = json_object_get(sums, key);

		if (!got)
			fail_msg("%s: no sums for %s", section, key);
		for (size_t m = 0; m < MEASURES; m++)
			if (json_object_get(got, measures[m]))
				assert_int_equal(
					json_integer_value(json_object_get(got, measures[m])),
					expected(row, measures[m]));
		free(key);
	}
	json_decref(sums);
	json_decref(names);
	table_release(&table);
}

static inline void check_sections(const struct page *page, json_t *report)
{
	for (int sort = 0; sort < PAGE_SORTS; sort++)
		check_section(page, report, page_shapes[sort].name);
}

#endif
