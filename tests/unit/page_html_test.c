// SPDX-License-Identifier: BSD-3-Clause
/* Whatever names are made of, the page's markup is only its own, and the names are still there. */
#include "unit/page_sections.h"
#include "show/page/viewer.h"

#define LONG 4096

static char long_name[LONG + 1];

static const char *const hostile[] = {
	"</script><script>alert(1)</script>",
	"<!--<script>",
	"]]><img src=x onerror=alert(1)>",
	"\xff\xfe\xc0\xaf",
	"line\none\r\ttwo\x1b[2J",
	"'\"&amp;\\u003c",
	"\u2028\u2029",
	long_name,
};
#define NAMES (sizeof(hostile) / sizeof(*hostile))

static size_t count_in(const char *text, const char *what)
{
	size_t count = 0;

	while ((text = strcasestr(text, what))) {
		count++;
		text++;
	}
	return count;
}

static void feed(const struct fact_sink *sink, const char *name)
{
	fact_put(sink, FACT_PROCESS,
		 &(struct fact_process){ .index = 0,
					 .host_id = name,
					 .host_name = name,
					 .comm = name,
					 .exe = name,
					 .mpi = name,
					 .job = name,
					 .rank = -1,
					 .size = -1 });
	fact_put(sink, FACT_CALL,
		 &(struct fact_call){ .id = 1,
				      .function = name,
				      .tid = 7,
				      .start = 5000,
				      .end = 9000,
				      .end_precision = TIME_EXACT });
	fact_put(sink, FACT_OP,
		 &(struct fact_op){ .id = 2,
				    .call = 1,
				    .peer = -1,
				    .op = name,
				    .function = name,
				    .protocol = name,
				    .tid = 7,
				    .start = 6000,
				    .bytes = 17 });
	fact_put(sink, FACT_TRANSFER,
		 &(struct fact_transfer){ .caused_by = 2,
					  .peer = -1,
					  .op = name,
					  .transport = name,
					  .device = name,
					  .function = name,
					  .tid = 7,
					  .start = 7000,
					  .bytes = 17 });
}

/* The page, and its own report freed by the caller. */
static char *page_of(const char *name, struct page **page)
{
	struct fact_totals totals = { 0 };
	struct fact_sink sink;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	*page = page_new(&(struct page_options){ 0 });
	sink = page_sink(*page);
	feed(&sink, name);
	assert_int_equal(page_write(*page, &totals, out), 0);
	fclose(out);
	assert_int_equal(strlen(text), size);
	return text;
}

/* Without the program and the style, which hold what they want. */
static void cut_own(char *text)
{
	char *css = strstr(text, page_viewer_css), *js = strstr(text, page_viewer_js);

	assert_non_null(css);
	assert_non_null(js);
	memset(js, ' ', page_viewer_js_end - page_viewer_js);
	memset(css, ' ', page_viewer_css_end - page_viewer_css);
}

static void markup_is_our_own(void **state)
{
	struct page *page;
	size_t scripts;
	char *text;

	(void)state;
	for (size_t i = 0; i < NAMES; i++) {
		text = page_of(hostile[i], &page);
		cut_own(text);
		scripts = page->pack.sections.len + 2;
		assert_int_equal(count_in(text, "<script"), scripts);
		assert_int_equal(count_in(text, "</script"), scripts);
		assert_int_equal(count_in(text, "<!--"), 0);
		assert_int_equal(count_in(text, "<img"), 0);
		assert_int_equal(count_in(text, "alert"), 0);
		for (const char *c = text; *c; c++)
			assert_true(*c == '\n' || (*c >= ' ' && *c <= '~'));
		page_free(page);
		free(text);
	}
}

static void names_are_still_there(void **state)
{
	struct page *page;
	json_t *names, *report;

	(void)state;
	for (size_t i = 0; i < NAMES; i++) {
		free(page_of(hostile[i], &page));
		names = text_of(page, "names");
		report = text_of(page, "report");
		assert_int_equal(json_array_size(names), 2);
		assert_string_equal(json_string_value(json_array_get(names, 1)),
				    i == 3 ? "????" : hostile[i]);
		assert_string_equal(
			json_string_value(json_object_get(
				json_array_get(json_object_get(report, "calls"), 0), "function")),
			i == 3 ? "????" : hostile[i]);
		json_decref(names);
		json_decref(report);
		page_free(page);
	}
}

/* No fact at all: a page that says so, not a broken one. */
static void nothing(void **state)
{
	struct page *page = page_new(&(struct page_options){ 0 });
	struct fact_totals totals = { 0 };
	struct table table;

	(void)state;
	assert_int_equal(page_put(page, &totals), 0);
	for (int i = 0; i < PAGE_SORTS; i++) {
		table_read(&table, page, page_shapes[i].name);
		assert_int_equal(table_rows(&table, "count"), 0);
		table_release(&table);
	}
	page_free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(markup_is_our_own),
		cmocka_unit_test(names_are_still_there),
		cmocka_unit_test(nothing),
	};

	memset(long_name, 'x', LONG);
	memcpy(long_name, "</script>", 9);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
