// SPDX-License-Identifier: BSD-3-Clause
/* Sums of a page are the report's, row by row, whatever detail it has. */
#include "unit/page_sections.h"

static const char *const captures[] = { "send",      "coll",         "rma",
					"isend-tcp", "send-count",   "ucp-am",
					"threads",   "ucp-am-count", "ucp-stream" };

/* A row of the report: its text without the numbers, to object of numbers. */
static json_t *report_of(const struct page *page)
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

/* How the report shows a code. */
static json_t *shown(const char *column, const char *section, uint64_t code, json_t *names)
{
	static const char *const localities[] = { "unknown", "self", "node", "remote" };
	static const char *const kinds[] = { "data", "control", "copy" };
	const char *can_be_null[] = { "function", "ucp_op", "memory_reason", "src_reason",
				      "dst_reason" };

	if (!strcmp(column, "locality"))
		return json_string(localities[code]);
	if (!strcmp(column, "kind"))
		return json_string(kinds[code]);
	if (!strcmp(column, "process") || !strcmp(column, "peer") || !strcmp(column, "src") ||
	    !strcmp(column, "dst"))
		return code ? json_integer((json_int_t)code - 1) : json_null();
	if (code)
		return json_incref(json_array_get(names, code));
	for (size_t i = 0; i < 5; i++)
		if (!strcmp(column, can_be_null[i]) &&
		    (strcmp(section, "calls") || strcmp(column, "function")))
			return json_null();
	return json_string("unknown");
}

/* Columns of keys that a row of the report has too. */
static const char *name_in_report(const char *section, const char *column)
{
	return !strcmp(section, "ops") && !strcmp(column, "ucp_op") ? "op" : column;
}

/* What tells rows of the report apart, as one text. */
static char *key_text(const struct table *table, const char *section, size_t key, json_t *like,
		      json_t *names)
{
	json_t *object = json_object();
	char *text;

	for (int c = 0; c < PAGE_COLUMNS; c++) {
		const char *name = page_column_names[c];
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

static char *row_text(json_t *row, const struct table *table, const char *section)
{
	json_t *object = json_object();
	char *text;

	for (int c = 0; c < PAGE_COLUMNS; c++) {
		const char *member = name_in_report(section, page_column_names[c]);

		if (table_find(table, page_column_names[c]) && json_object_get(row, member))
			json_object_set(object, member, json_object_get(row, member));
	}
	text = json_dumps(object, JSON_SORT_KEYS);
	json_decref(object);
	return text;
}

static void add(json_t *sums, const char *name, uint64_t value)
{
	json_int_t before = json_integer_value(json_object_get(sums, name));

	json_object_set_new(sums, name, json_integer(before + (json_int_t)value));
}

static const char *const measures[] = { "count",  "bytes",   "bytes_unknown",     "ops",
					"errors", "retries", "unexplained_bytes", "wire_bytes",
					"timed",  "time_sum" };
#define MEASURES (sizeof(measures) / sizeof(*measures))

/* Cells by the rows of the report that they belong to. */
static json_t *sum_cells(const struct table *table, const char *section, json_t *like,
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
				add(sums, measures[m], table_at(table, measures[m], i));
		free(key);
	}
	return rows;
}

static json_int_t expected(json_t *row, const char *measure)
{
	json_t *time = json_object_get(row, "time");

	if (!strcmp(measure, "timed"))
		return json_integer_value(json_object_get(time, "known"));
	if (!strcmp(measure, "time_sum"))
		return json_integer_value(json_object_get(time, "sum_ns"));
	return json_integer_value(json_object_get(row, measure));
}

static void check_section(const struct page *page, json_t *report, const char *section)
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

static void sums_are_the_reports(void **state)
{
	struct made_page made;
	json_t *report;

	(void)state;
	for (size_t i = 0; i < sizeof(captures) / sizeof(*captures); i++) {
		made_page_of(&made, captures[i], &(struct page_options){ 0 });
		report = report_of(made.page);
		for (int sort = 0; sort < PAGE_SORTS; sort++)
			check_section(made.page, report, page_shapes[sort].name);
		json_decref(report);
		made_page_release(&made);
	}
}

static void filtered_sums_too(void **state)
{
	struct filter filter = { 0 };
	struct made_page made;
	const char *why;
	json_t *report;

	(void)state;
	assert_int_equal(filter_add(&filter, FILTER_FUNCTION, "MPI_Allreduce,MPI_Bcast", &why), 0);
	assert_int_equal(filter_add(&filter, FILTER_PROCESS, "index:1", &why), 0);
	made_page_of(&made, "coll", &(struct page_options){ .filter = &filter });
	report = report_of(made.page);
	assert_true(json_array_size(json_object_get(report, "transfers")) > 0);
	for (int sort = 0; sort < PAGE_SORTS; sort++)
		check_section(made.page, report, page_shapes[sort].name);
	json_decref(report);
	made_page_release(&made);
	filter_release(&filter);
}

static uint64_t total(const struct page *page, const char *section, const char *measure)
{
	struct table table;
	uint64_t sum;

	table_read(&table, page, section);
	sum = table_sum(&table, measure);
	table_release(&table);
	return sum;
}

static bool merged(const struct page *page, const char *column)
{
	json_t *directory = page_directory((struct page *)(uintptr_t)page), *name;
	bool found = false;
	size_t i;

	json_array_foreach(json_object_get(json_object_get(directory, "cube"), "merged"), i, name)
		found = found || !strcmp(json_string_value(name), column);
	json_decref(directory);
	return found;
}

/* With room for ever fewer cells the sums stay; what was given up is said. */
static void coarser_is_the_same(void **state)
{
	static const size_t limits[] = { 5000, 2000, 500, 100, 20 };
	struct made_page fine, coarse;

	(void)state;
	made_page_of(&fine, "coll", &(struct page_options){ 0 });
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		made_page_of(&coarse, "coll", &(struct page_options){ .cells = limits[i] });
		assert_true(page_cube_cells(&coarse.page->cube) <= limits[i]);
		for (int sort = 0; sort < PAGE_SORTS; sort++)
			for (int sum = 0; sum < PAGE_SUMS; sum++) {
				const char *section = page_shapes[sort].name;
				const char *measure = page_shapes[sort].sums[sum];

				if (measure)
					assert_int_equal(total(coarse.page, section, measure),
							 total(fine.page, section, measure));
			}
		made_page_release(&coarse);
	}
	assert_false(merged(fine.page, "size"));
	made_page_of(&coarse, "coll", &(struct page_options){ .cells = 20 });
	assert_true(merged(coarse.page, "size"));
	assert_true(merged(coarse.page, "peer"));
	made_page_release(&coarse);
	made_page_release(&fine);
}

/* Only time gives way first: the report's rows are still there. */
static void time_first(void **state)
{
	struct made_page made;
	json_t *report;

	(void)state;
	made_page_of(&made, "coll", &(struct page_options){ .cells = 4500 });
	report = report_of(made.page);
	for (int sort = 0; sort < PAGE_SORTS; sort++)
		check_section(made.page, report, page_shapes[sort].name);
	json_decref(report);
	made_page_release(&made);
}

/* A large report is there without the sums that the cube has. */
static void large_report(void **state)
{
	static const char *const stay[] = { "hosts",   "processes",   "loss", "matching",
					    "slowest", "attribution", "notes" };
	static const char *const go[] = { "calls", "ops", "transfers", "messages" };
	struct made_page whole, cut;
	json_t *full, *rest;

	(void)state;
	made_page_of(&whole, "coll", &(struct page_options){ 0 });
	made_page_of(&cut, "coll", &(struct page_options){ .report = 1 });
	full = text_of(whole.page, "report");
	rest = text_of(cut.page, "report");
	for (size_t i = 0; i < sizeof(stay) / sizeof(*stay); i++) {
		assert_non_null(json_object_get(full, stay[i]));
		assert_true(
			json_equal(json_object_get(full, stay[i]), json_object_get(rest, stay[i])));
	}
	for (size_t i = 0; i < sizeof(go) / sizeof(*go); i++) {
		assert_non_null(json_object_get(full, go[i]));
		assert_null(json_object_get(rest, go[i]));
	}
	assert_false(whole.page->report_cut);
	assert_true(cut.page->report_cut);
	json_decref(full);
	json_decref(rest);
	made_page_release(&whole);
	made_page_release(&cut);
}

static void sizes(void **state)
{
	(void)state;
	assert_int_equal(page_size(UINT64_MAX), 0);
	assert_int_equal(page_size(0), 1);
	assert_int_equal(page_size(1), 2);
	assert_int_equal(page_size(2), 3);
	assert_int_equal(page_size(3), 3);
	assert_int_equal(page_size(4), 4);
	assert_int_equal(page_size(1023), 11);
	assert_int_equal(page_size(1024), 12);
	assert_int_equal(page_size(1ull << 63), 65);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_the_reports), cmocka_unit_test(filtered_sums_too),
		cmocka_unit_test(coarser_is_the_same),  cmocka_unit_test(time_first),
		cmocka_unit_test(large_report),         cmocka_unit_test(sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
