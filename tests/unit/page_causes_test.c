// SPDX-License-Identifier: BSD-3-Clause
/* The page and `replay` agree on the transfers that operations and calls caused. */
#include "unit/page_sections.h"

static uint32_t key_of[PAGE_KEYS];

static void add(struct page_causes *causes, uint64_t id, uint32_t transport)
{
	key_of[KEY_TRANSPORT] = transport;
	page_causes_add(causes, id, CAUSES_TRANSFER, key_of);
}

static void equal_sets_have_one_code(void **state)
{
	static const uint32_t orders[][3] = { { 1, 2, 3 }, { 3, 2, 1 }, { 2, 3, 1 }, { 3, 1, 3 } };
	struct page_causes causes;

	(void)state;
	page_causes_init(&causes);
	assert_int_equal(page_causes_code(&causes, 1), 0);
	for (uint64_t i = 0; i < 4; i++) {
		for (int k = 0; k < 3; k++)
			add(&causes, i + 1, orders[i][k]);
		page_causes_made(&causes, 10 + i % 2, i + 1);
	}
	page_causes_end(&causes);
	assert_int_equal(page_causes_code(&causes, 1), page_causes_code(&causes, 2));
	assert_int_equal(page_causes_code(&causes, 1), page_causes_code(&causes, 3));
	assert_int_not_equal(page_causes_code(&causes, 1), page_causes_code(&causes, 4));
	/* calls 10 and 11 made operations 1 and 3, 2 and 4 */
	assert_int_equal(page_causes_code(&causes, 10), page_causes_code(&causes, 1));
	assert_int_equal(page_causes_code(&causes, 11), page_causes_code(&causes, 1));
	assert_int_equal(page_causes_code(&causes, 0), 1);
	assert_int_equal(page_causes_code(&causes, 99), 1);
	page_causes_release(&causes);
}

/* The codes of sets that have data over a transport. */
static void find_sets(const struct page *page, const char *transport, bool *has)
{
	const struct page_causes *causes = &page->causes;
	struct table table;
	size_t word;

	table_read(&table, page, "causes");
	for (word = 0; strcmp(page->words.texts.all.data[word], transport) != 0;)
		word++;
	assert_int_equal(table_rows(&table, "parent"), causes->sets.len);
	has[0] = has[1] = false;
	for (size_t set = 1; set < causes->sets.len; set++) {
		const uint64_t kind = table_at(&table, "last", set),
			       parent = table_at(&table, "parent", set);

		assert_true(parent < set);
		has[set + 1] =
			has[parent + 1] || (table_at(&table, "layer", kind) == CAUSES_TRANSFER &&
					    table_at(&table, "transport", kind) == word + 1 &&
					    table_at(&table, "kind", kind) == KIND_DATA);
	}
	table_release(&table);
}

static uint64_t counted(const struct page *page, const char *section, const bool *has)
{
	struct table table;
	uint64_t sum = 0;

	table_read(&table, page, section);
	for (size_t i = 0; i < table_rows(&table, "count"); i++) {
		const uint64_t key = table_at(&table, "key", i);
		bool selected = has[table_at(&table, "causes", key)];

		if (table_find(&table, "recv_causes"))
			selected = selected || has[table_at(&table, "recv_causes", key)];
		sum += selected ? table_at(&table, "count", i) : 0;
	}
	table_release(&table);
	return sum;
}

/* Gives all facts of a capture to a sink. */
static void scan(const char *capture, const struct fact_sink *sink)
{
	struct analysis *analysis = analysis_new();
	struct fact_totals totals;

	add_captures(analysis, capture);
	assert_int_equal(analysis_run(analysis, sink, &totals), 0);
	analysis_free(analysis);
}

static void sets_select_what_replay_does(void **state)
{
	struct report_filter filter = { 0 };
	struct filter_scan *causes;
	struct made_page whole, part;
	struct fact_sink sink;
	const char *why;
	json_t *report, *of;
	bool *has;

	(void)state;
	assert_int_equal(filter_add(&filter, FILTER_TRANSPORT, "cma", &why), 0);
	assert_int_equal(filter_add(&filter, FILTER_KIND, "data", &why), 0);
	causes = filter_scan_begin(&filter, &sink);
	scan("gromacs", &sink);
	filter_scan_end(causes);
	made_page_of(&part, "gromacs", &(struct page_options){ .filter = &filter });
	made_page_of(&whole, "gromacs", &(struct page_options){ 0 });
	report = text_of(part.page, "report");
	of = json_object_get(report, "selected");
	has = calloc(whole.page->causes.sets.len + 1, sizeof(*has));
	find_sets(whole.page, "cma", has);
	for (int i = 0; i < 3; i++) {
		static const char *const sections[] = { "calls", "ops", "messages" };
		const json_t *selected = json_object_get(of, sections[i]);
		const json_int_t count = json_integer_value(json_object_get(selected, "count"));

		assert_true(count > 0);
		assert_int_equal(counted(whole.page, sections[i], has), count);
	}
	free(has);
	json_decref(report);
	made_page_release(&whole);
	made_page_release(&part);
	filter_release(&filter);
}

static bool is_dropped(struct page *page)
{
	json_t *directory = page_directory(page);
	const json_t *list = json_object_get(json_object_get(directory, "cube"), "merged");
	bool found = false;

	for (size_t i = 0; i < json_array_size(list); i++)
		found = found || !strcmp(json_string_value(json_array_get(list, i)), "causes");
	json_decref(directory);
	return found;
}

/* A set with too many kinds is not cut: nothing is known then, and the page says so. */
static void too_many_are_given_up(void **state)
{
	char ops[600][8];

	(void)state;
	for (size_t most = 500; most <= 600; most += 100) {
		struct page *page = page_new(&(struct page_options){ 0 });
		struct fact_sink sink = page_scan(page);

		assert_true(is_dropped(page));
		for (size_t i = 0; i < most; i++) {
			struct fact_transfer transfer = { .caused_by = 7, .op = ops[i] };

			snprintf(ops[i], sizeof(ops[i]), "op%zu", i);
			fact_put(&sink, FACT_TRANSFER, &transfer);
		}
		page_scan_end(page);
		assert_int_equal(is_dropped(page), most > 512);
		assert_int_equal(page_causes_code(&page->causes, 7) > 1, most < 512);
		assert_int_equal(page_causes_code(&page->causes, 8), most < 512);
		page_free(page);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_sets_have_one_code),
		cmocka_unit_test(sets_select_what_replay_does),
		cmocka_unit_test(too_many_are_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
