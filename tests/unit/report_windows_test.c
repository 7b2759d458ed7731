// SPDX-License-Identifier: BSD-3-Clause
/* What the report says of a duty cycle. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "show/report/report.h"
#include "report_facts.h"

#define SECOND 1000000000ull

typedef int print_fn(const struct report *report, FILE *out);

static int text(const struct report *report, FILE *out)
{
	return report_text(report, &(struct report_text_options){ .width = 100 }, out);
}

static char *print(const struct fact_window *windows, int count, print_fn *to)
{
	struct report *report = report_new(NULL);
	struct fact_sink sink = report_sink(report);
	struct fact_totals totals = { 0 };
	char *printed = NULL;
	size_t size;
	FILE *out = open_memstream(&printed, &size);

	for (int i = 0; i < 4; i++)
		fact_put(&sink, FACT_PROCESS, &made_processes[i]);
	for (int i = 0; i < count; i++)
		fact_put(&sink, FACT_WINDOW, &windows[i]);
	report_finish(report, &totals);
	assert_int_equal(to(report, out), 0);
	fclose(out);
	report_free(report);
	return printed;
}

static void assert_says(const char *printed, const char *words)
{
	if (!strstr(printed, words))
		fail_msg("'%s' is not in:\n%s", words, printed);
}

static void one_host(void **state)
{
	struct fact_window windows[12];
	char *printed;

	(void)state;
	for (int i = 0; i < 12; i++)
		windows[i] = (struct fact_window){ .host_name = "node-a",
						   .from = (30 * i + 5) * SECOND,
						   .to = (30 * i + 6) * SECOND,
						   .until = 365 * SECOND };
	printed = print(windows, 12, text);
	assert_says(printed, "\nsampled 12 windows, 12.0 s of 360 s (3.3 %): "
			     "all numbers are of the windows alone\n");
	free(printed);
	printed = print(windows, 1, text);
	assert_says(printed, "\nsampled 1 window, 1.00 s of 360 s (0.3 %): ");
	assert_says(printed, "\nNo UCX or MPI activity was recorded in these windows.\n");
	free(printed);
	printed = print(windows, 0, text);
	assert_null(strstr(printed, "sampled"));
	free(printed);
}

static const struct fact_window two_hosts[] = {
	{ 0, "node-a", 0, 5 * SECOND, 6 * SECOND, 25 * SECOND, NULL, NULL, 0 },
	{ 0, "node-a", 0, 15 * SECOND, 16 * SECOND, 25 * SECOND, NULL, NULL, 0 },
	{ 1, "node-b", 1, 9 * SECOND, 10 * SECOND, 13 * SECOND, NULL, NULL, 0 },
};

static void several_captures(void **state)
{
	char *printed = print(two_hosts, 3, text);

	(void)state;
	assert_says(printed, "sampled 2 windows, 2.00 s of 20.0 s (10.0 %) on node-a: all");
	assert_says(printed, "sampled 1 window, 1.00 s of 4.00 s (25.0 %) on node-b\n");
	free(printed);
}

/* Changes alone are told: of windows that come and go, the first. */
static void with_a_budget(void **state)
{
	static const struct fact_window windows[] = {
		{ 0, "node-a", 0, 5 * SECOND, 6 * SECOND, 25 * SECOND, "uct", "start", 400000 },
		{ 0, "node-a", 0, 7 * SECOND, 8 * SECOND, 25 * SECOND, "windows", "over budget",
		  213000 },
		{ 0, "node-a", 0, 9 * SECOND, 10 * SECOND, 25 * SECOND, "windows", "over budget",
		  213000 },
		{ 0, "node-a", 0, 11 * SECOND, 25 * SECOND, 25 * SECOND, "mpi", "under budget",
		  10000 },
	};
	char *printed = print(windows, 4, text);
	json_t *root, *last;

	(void)state;
	assert_says(printed,
		    "\nbudget: from 0 ns on all layers (start, a thread paid 40.0 % of the first "
		    "milliseconds, in which the\n        cost was measured)\n"
		    "        from 2.00 s on windows of all layers (over budget, a thread "
		    "paid 21.3 % of its time)\n"
		    "        from 6.00 s on MPI calls (under budget, a thread paid 1.0 % of "
		    "its time)\ncost");
	free(printed);
	printed = print(windows, 4, report_json);
	root = json_loads(printed, 0, NULL);
	last = json_array_get(json_object_get(root, "windows"), 3);
	assert_string_equal(json_string_value(json_object_get(last, "step")), "mpi");
	assert_string_equal(json_string_value(json_object_get(last, "reason")), "under budget");
	assert_int_equal(json_integer_value(json_object_get(last, "paid_ppm")), 10000);
	json_decref(root);
	free(printed);
}

/* A process is observed from its first call to the end of the trace, as far as windows cover that.
 */
static void shares_are_of_the_windows(void **state)
{
	struct report *report = report_new(NULL);
	struct fact_sink sink = report_sink(report);
	struct fact_totals totals = { 0 };
	json_t *root, *time;
	char *printed = NULL;
	size_t size;
	FILE *out = open_memstream(&printed, &size);

	(void)state;
	fact_put(&sink, FACT_PROCESS, &made_processes[0]);
	fact_put(&sink, FACT_CALL,
		 &(struct fact_call){ .id = 1,
				      .function = "MPI_Send",
				      .context = -1,
				      .start = 11 * SECOND / 2,
				      .end = 23 * SECOND / 4,
				      .end_precision = TIME_EXACT,
				      .until = 20 * SECOND,
				      .seen = "probe" });
	for (int i = 0; i < 2; i++)
		fact_put(&sink, FACT_WINDOW, &two_hosts[i]);
	fact_put(&sink, FACT_LIFETIME, &(struct fact_lifetime){ .until = 25 * SECOND });
	report_finish(report, &totals);
	assert_int_equal(report_json(report, out), 0);
	fclose(out);
	root = json_loads(printed, 0, NULL);
	time = json_array_get(json_object_get(root, "time"), 0);
	assert_int_equal(json_integer_value(json_object_get(time, "span_ns")), 3 * SECOND / 2);
	assert_int_equal(json_integer_value(json_object_get(time, "mpi_ns")), SECOND / 4);
	assert_true(json_integer_value(json_object_get(time, "mpi_most_ns")) <=
		    (json_int_t)(3 * SECOND / 2));
	json_decref(root);
	free(printed);
	report_free(report);
}

static void in_json(void **state)
{
	char *printed = print(two_hosts, 3, report_json);
	json_t *root = json_loads(printed, 0, NULL), *windows = json_object_get(root, "windows");
	json_t *last = json_array_get(windows, 1);

	(void)state;
	assert_int_equal(json_array_size(windows), 3);
	assert_int_equal(json_integer_value(json_object_get(last, "host")), 0);
	assert_int_equal(json_integer_value(json_object_get(last, "capture")), 0);
	assert_int_equal(json_integer_value(json_object_get(last, "from_ns")), 10 * SECOND);
	assert_int_equal(json_integer_value(json_object_get(last, "to_ns")), 11 * SECOND);
	json_decref(root);
	free(printed);
	printed = print(NULL, 0, report_json);
	assert_null(strstr(printed, "windows"));
	free(printed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_host),      cmocka_unit_test(several_captures),
		cmocka_unit_test(in_json),       cmocka_unit_test(shares_are_of_the_windows),
		cmocka_unit_test(with_a_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
