// SPDX-License-Identifier: BSD-3-Clause
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "show/report/report.h"
#include "report_facts.h"

static char *print(const struct fact_totals *totals, void (*job)(const struct fact_sink *))
{
	struct report *report = report_new(NULL);
	struct fact_sink sink = report_sink(report);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (job)
		job(&sink);
	report_finish(report, totals);
	assert_int_equal(report_json(report, out), 0);
	fclose(out);
	report_free(report);
	return text;
}

static json_t *load(const struct fact_totals *totals, void (*job)(const struct fact_sink *))
{
	char *text = print(totals, job);
	json_t *root = json_loads(text, 0, NULL);

	assert_non_null(root);
	free(text);
	return root;
}

static void rows_are_sums(void **state)
{
	/* One line per row: keys in their order, then the measures that the schema fixes. */
	static const char *const golden[] = {
		"[0,\"MPI_Isend\",116]",
		"[0,\"MPI_Send\",101]",
		"[1,\"MPI_Waitall\",17]",
		"[0,\"tag_send\",\"MPI_Isend\",\"unknown\",103,9991]",
		"[0,\"tag_send\",\"MPI_Isend\",\"rndv_get_zcopy\",13,13631579]",
		"[0,\"tag_send\",\"MPI_Send\",\"eager_bcopy\",101,413999]",
		"[3,\"put\",null,\"put_zcopy\",4,196611]",
		"[0,1,\"am_bcopy\",\"posix\",\"memory\",\"node\",\"data\",\"tag_send\","
		"\"MPI_Send\",\"eager_bcopy\",\"host\",\"host\",101,413999,7]",
		"[0,1,\"am_bcopy\",\"posix\",\"memory\",\"node\",\"control\",null,null,\"unknown\","
		"\"unknown\",\"unknown\",5,1055,0]",
		"[0,2,\"am_short\",\"tcp\",\"eth0\",\"remote\",\"data\",\"tag_send\","
		"\"MPI_Isend\",\"unknown\",\"host\",\"unknown\",103,9991,0]",
		"[1,0,\"get_zcopy\",\"cma\",\"memory\",\"node\",\"data\",\"tag_recv\","
		"\"MPI_Waitall\",\"rndv_get_zcopy\",\"host\",\"host\",13,13631579,0]",
		"[2,0,\"am_short\",\"unknown\",\"unknown\",\"unknown\",\"data\",null,null,"
		"\"unknown\",\"unknown\",\"unknown\",2,178,0]",
		"[3,null,\"put_zcopy\",\"tcp\",\"eth0\",\"unknown\",\"data\",\"put\",null,"
		"\"put_zcopy\",\"host\",\"unknown\",3,196611,0]",
		"[0,1,\"MPI_Isend\",13,13631579]",
		"[0,1,\"MPI_Send\",101,413999]",
		"[0,2,\"MPI_Isend\",99,9603]",
	};
	static const char *const fields[][16] = {
		{ "calls", "process", "function", "count" },
		{ "ops", "process", "op", "function", "protocol", "count", "bytes" },
		{ "transfers", "process", "peer", "op", "transport", "device", "locality", "kind",
		  "ucp_op", "function", "protocol", "src_mem", "dst_mem", "count", "bytes",
		  "retries" },
		{ "messages", "src", "dst", "function", "count", "bytes" },
	};
	json_t *root = load(&made_totals, made_job);
	size_t line = 0;

	(void)state;
	for (size_t table = 0; table < 4; table++) {
		json_t *rows = json_object_get(root, fields[table][0]), *row;
		size_t at;

		assert_true(json_is_array(rows));
		json_array_foreach(rows, at, row)
		{
			json_t *list = json_array();
			char *text;

			for (int i = 1; i < 16 && fields[table][i]; i++) {
				json_t *value = json_object_get(row, fields[table][i]);

				assert_non_null(value);
				json_array_append(list, value);
			}
			text = json_dumps(list, JSON_COMPACT);
			assert_true(line < sizeof(golden) / sizeof(golden[0]));
			assert_string_equal(text, golden[line++]);
			free(text);
			json_decref(list);
		}
	}
	assert_int_equal(line, sizeof(golden) / sizeof(golden[0]));
	json_decref(root);
}

static void totals_are_passed_on(void **state)
{
	json_t *root = load(&made_totals, made_job);
	char *text;

	(void)state;
	text = json_dumps(json_object_get(root, "loss"), JSON_COMPACT);
	assert_string_equal(text,
			    "{\"produced\":5003,\"stored\":4999,\"dropped\":{\"ring full\":4}}");
	free(text);
	text = json_dumps(json_object_get(root, "matching"), JSON_COMPACT);
	assert_string_equal(
		text, "{\"sends\":217,\"receives\":219,\"matched\":213,\"ambiguous\":1,"
		      "\"unmatched_sends\":{\"lost record\":1,\"receiver not in the capture\":2},"
		      "\"unmatched_receives\":{\"sender not in the capture\":5}}");
	free(text);
	text = json_dumps(json_object_get(root, "attribution"), JSON_COMPACT);
	assert_string_equal(text,
			    "{\"data_bytes\":14252358,\"to_op\":14252180,\"to_call\":14055569,"
			    "\"unexplained\":178,\"unexplained_reasons\":{\"request not seen\""
			    ":178}}");
	free(text);
	json_decref(root);
}

static void identity(void **state)
{
	json_t *root = load(&made_totals, made_job);
	json_t *process = json_array_get(json_object_get(root, "processes"), 3), *ucx;

	(void)state;
	assert_string_equal(json_string_value(json_object_get(root, "schema")), "ucxbpf.report/1");
	assert_int_equal(json_array_size(json_object_get(root, "hosts")), 2);
	assert_int_equal(json_integer_value(json_object_get(process, "id")), 3);
	assert_int_equal(json_integer_value(json_object_get(process, "host")), 1);
	assert_true(json_is_null(json_object_get(process, "rank")));
	assert_string_equal(json_string_value(json_object_get(process, "exe")), "/opt/?");
	assert_true(json_is_null(json_object_get(process, "mpi")));
	assert_string_equal(json_string_value(json_object_get(process, "seen_from")), "attach");
	ucx = json_array_get(json_object_get(process, "ucx"), 0);
	assert_string_equal(json_string_value(json_object_get(ucx, "layout")), "unknown");
	json_decref(root);
}

/* null would say that it had no MPI. */
static void undescribed(void **state)
{
	json_t *root = load(&made_totals, made_undescribed);
	json_t *process = json_array_get(json_object_get(root, "processes"), 0);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(process, "comm")), "unknown");
	assert_string_equal(json_string_value(json_object_get(process, "mpi")), "unknown");
	assert_int_equal(json_array_size(json_object_get(process, "ucx")), 0);
	json_decref(root);
}

static void same_facts_same_bytes(void **state)
{
	char *first = print(&made_totals, made_job), *second = print(&made_totals, made_job);

	(void)state;
	assert_string_equal(first, second);
	free(first);
	free(second);
}

static void empty_capture(void **state)
{
	static const char *const keys[] = { "hosts",     "processes", "calls",  "ops",
					    "transfers", "messages",  "slowest" };
	json_t *root = load(&(struct fact_totals){ 0 }, NULL);

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		assert_true(json_is_array(json_object_get(root, keys[i])));
		assert_int_equal(json_array_size(json_object_get(root, keys[i])), 0);
	}
	assert_true(json_is_null(json_object_get(root, "filter")));
	json_decref(root);
}

static void write_error(void **state)
{
	struct report *report = report_new(NULL);
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	if (!full)
		skip();
	assert_true(report_json(report, full) < 0);
	fclose(full);
	report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_sums),
		cmocka_unit_test(totals_are_passed_on),
		cmocka_unit_test(identity),
		cmocka_unit_test(undescribed),
		cmocka_unit_test(same_facts_same_bytes),
		cmocka_unit_test(empty_capture),
		cmocka_unit_test(write_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
