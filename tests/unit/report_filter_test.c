// SPDX-License-Identifier: BSD-3-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdlib.h>

#include "show/report/report.h"
#include "report_facts.h"

struct counts {
	json_int_t calls, ops, transfers, messages;
};

static json_int_t sum(const json_t *root, const char *rows)
{
	json_t *row;
	size_t at;
	json_int_t total = 0;

	json_array_foreach(json_object_get(root, rows), at, row) total +=
		json_integer_value(json_object_get(row, "count"));
	return total;
}

static json_t *report_with(struct report_filter *filter)
{
	struct report *report = report_new(filter);
	struct fact_sink sink = report_sink(report);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *root;

	made_job(&sink);
	report_finish(report, &made_totals);
	assert_int_equal(report_json(report, out), 0);
	fclose(out);
	report_free(report);
	root = json_loads(text, 0, NULL);
	free(text);
	assert_non_null(root);
	return root;
}

static unsigned int tried; /* filter_field bits */

static void expect(enum filter_field field, const char *list, struct counts want)
{
	struct report_filter filter = { 0 };
	const char *why;
	json_t *root;

	tried |= 1u << field;
	assert_int_equal(filter_add(&filter, field, list, &why), 0);
	root = report_with(&filter);
	assert_int_equal(sum(root, "calls"), want.calls);
	assert_int_equal(sum(root, "ops"), want.ops);
	assert_int_equal(sum(root, "transfers"), want.transfers);
	assert_int_equal(sum(root, "messages"), want.messages);
	/* Totals are of the whole capture. */
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(root, "matching"), "sends")),
		217);
	assert_int_equal(json_array_size(json_object_get(json_object_get(root, "filter"),
							 filter_infos[field].name)) > 0,
			 1);
	json_decref(root);
	filter_release(&filter);
}

static void every_field(void **state)
{
	(void)state;
	expect(FILTER_FUNCTION, "MPI_Send", (struct counts){ 101, 101, 101, 101 });
	expect(FILTER_FUNCTION, "mpi_*send", (struct counts){ 217, 217, 204, 213 });
	expect(FILTER_FUNCTION, "none", (struct counts){ 0, 4, 10, 0 });
	expect(FILTER_OP, "get_*,put_*", (struct counts){ 234, 221, 16, 213 });
	expect(FILTER_UCP_OP, "put", (struct counts){ 234, 4, 3, 0 });
	expect(FILTER_PROTOCOL, "rndv*", (struct counts){ 234, 13, 13, 213 });
	expect(FILTER_TRANSPORT, "tcp", (struct counts){ 234, 221, 106, 213 });
	expect(FILTER_TRANSPORT, "none", (struct counts){ 234, 221, 2, 213 });
	expect(FILTER_DEVICE, "eth*", (struct counts){ 234, 221, 106, 213 });
	expect(FILTER_KIND, "control", (struct counts){ 234, 221, 5, 213 });
	expect(FILTER_HOST, "node-b", (struct counts){ 0, 4, 5, 99 });
	expect(FILTER_HOST, "boot-a", (struct counts){ 234, 217, 222, 213 });
	expect(FILTER_CALL_SITE, "none", (struct counts){ 234, 221, 227, 213 });
	expect(FILTER_CALL_SITE, "main", (struct counts){ 0, 0, 0, 213 });
	expect(FILTER_MEMORY, "host", (struct counts){ 234, 0, 220, 0 });
}

static void processes(void **state)
{
	struct counts rank1 = { 17, 0, 13, 114 }, first = { 217, 217, 209, 213 };
	struct counts bare = { 0, 4, 3, 0 };

	(void)state;
	expect(FILTER_PROCESS, "1", rank1);
	expect(FILTER_PROCESS, "rank:1", rank1);
	expect(FILTER_PROCESS, "pid:1013", rank1);
	expect(FILTER_PROCESS, "index:0", first);
	expect(FILTER_PROCESS, "2011", bare);
	expect(FILTER_PROCESS, "bare*", bare);
	expect(FILTER_PROCESS, "rank:17", (struct counts){ 0, 0, 0, 0 });
}

static void fields_are_anded(void **state)
{
	struct report_filter filter = { 0 };
	const char *why;
	json_t *root;

	(void)state;
	filter_add(&filter, FILTER_TRANSPORT, "posix,cma", &why);
	filter_add(&filter, FILTER_KIND, "data", &why);
	root = report_with(&filter);
	assert_int_equal(sum(root, "transfers"), 114);
	json_decref(root);
	filter_release(&filter);
}

static void bad_lists(void **state)
{
	struct report_filter filter = { 0 };
	const char *why = NULL;

	(void)state;
	assert_true(filter_add(&filter, FILTER_KIND, "payload", &why) < 0);
	assert_non_null(why);
	assert_true(filter_add(&filter, FILTER_FUNCTION, "MPI_Send,,", &why) < 0);
	filter_release(&filter);
}

/* Runs last. A field without a row in filter_infos[] would be an option without a name. */
static void no_field_is_left_out(void **state)
{
	(void)state;
	for (int field = 0; field < FILTER_FIELDS; field++) {
		assert_non_null(filter_infos[field].name);
		if (!(tried >> field & 1))
			fail_msg("no expectation filters by %s", filter_infos[field].name);
	}
}

static void every_key_has_a_name(void **state)
{
	(void)state;
	for (int key = 0; key < FACT_KEYS; key++)
		if (!fact_key_names[key])
			fail_msg("key %d has no name in fact_key_names[]", key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_has_a_name),
		cmocka_unit_test(every_field),
		cmocka_unit_test(processes),
		cmocka_unit_test(fields_are_anded),
		cmocka_unit_test(bad_lists),
		cmocka_unit_test(no_field_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
