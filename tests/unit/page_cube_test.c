// SPDX-License-Identifier: BSD-3-Clause
/* Sums of a page are the report's, row by row, whatever detail it has. */
#include "unit/page_compare.h"

static const char *const captures[] = {
	"send",   "coll",    "rma",          "isend-tcp",  "send-count",
	"ucp-am", "threads", "ucp-am-count", "ucp-stream", "hosts.n0 hosts.n1"
};

static void sums_are_the_reports(void **state)
{
	struct made_page made;
	json_t *report;

	(void)state;
	for (size_t i = 0; i < sizeof(captures) / sizeof(*captures); i++) {
		made_page_of(&made, captures[i], &(struct page_options){ 0 });
		report = report_of(made.page);
		check_sections(made.page, report);
		json_decref(report);
		made_page_release(&made);
	}
}

static void filtered_sums_too(void **state)
{
	struct report_filter filter = { 0 };
	struct made_page made;
	const char *why;
	json_t *report;

	(void)state;
	assert_int_equal(filter_add(&filter, FILTER_FUNCTION, "MPI_Allreduce,MPI_Bcast", &why), 0);
	assert_int_equal(filter_add(&filter, FILTER_PROCESS, "index:1", &why), 0);
	made_page_of(&made, "coll", &(struct page_options){ .filter = &filter });
	report = report_of(made.page);
	assert_true(json_array_size(json_object_get(report, "transfers")) > 0);
	check_sections(made.page, report);
	json_decref(report);
	made_page_release(&made);
	filter_release(&filter);
}

static uint64_t total(const struct page *page, const char *section, const char *measure)
{
	struct table table;
	uint64_t sum = 0;

	table_read(&table, page, section);
	for (size_t i = 0; i < table_rows(&table, "time"); i++)
		sum += measured(&table, measure, i);
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
	check_sections(made.page, report);
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
	made_page_of(&cut, "coll", &(struct page_options){ .keys = 1 });
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
