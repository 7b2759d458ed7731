// SPDX-License-Identifier: BSD-3-Clause
/* Memory in reports: rows of its own, and what operations' buffers are. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "show/report/report.h"
#include "report_facts.h"

static const char made_gpu[] = "gpu", made_gpu1[] = "gpu1", made_pinned[] = "pinned";
static const char made_no_stream[] = "the stream was not seen made";
static const char made_unseen[] = "not seen allocated";

static void made_row(const struct fact_sink *sink, struct fact_memory memory)
{
	fact_put(sink, FACT_MEMORY, &memory);
}

static void made_op_on(const struct fact_sink *sink, const char *memory, const char *reason,
		       int count)
{
	for (int i = 0; i < count; i++)
		fact_put(sink, FACT_OP,
			 &(struct fact_op){ .process = 1,
					    .peer = 0,
					    .op = made_tag_send,
					    .function = made_send,
					    .protocol = made_eager,
					    .memory = memory,
					    .memory_reason = reason,
					    .bytes = 8 });
}

/* Rows are fed in no order. */
static void made_gpu_job(const struct fact_sink *sink)
{
	for (int i = 0; i < 2; i++)
		fact_put(sink, FACT_PROCESS, &made_processes[i]);
	made_op_on(sink, made_gpu1, NULL, 7);
	made_op_on(sink, NULL, made_unseen, 11);
	made_op_on(sink, made_gpu, made_no_stream, 13);
	made_row(sink, (struct fact_memory){ .process = 1,
					     .kind = made_pinned,
					     .sort = "registered",
					     .device = -1,
					     .exporter = -1,
					     .function = "cudaHostRegister",
					     .allocations = 3,
					     .bytes = 12289,
					     .live_peak = 8191 });
	made_row(sink, (struct fact_memory){ .process = 1,
					     .kind = made_gpu,
					     .sort = "plain",
					     .device = 1,
					     .exporter = -1,
					     .function = "cuMemAlloc",
					     .allocations = 1009,
					     .bytes = 1048583,
					     .live_peak = 65537 });
	made_row(sink, (struct fact_memory){ .process = 1,
					     .kind = made_gpu,
					     .sort = "imported",
					     .device = -1,
					     .exporter = -1,
					     .reason = "memory of another process",
					     .function = "cuIpcOpenMemHandle",
					     .allocations = 5,
					     .unsized = 5 });
	made_row(sink, (struct fact_memory){ .process = 1,
					     .kind = made_gpu,
					     .sort = "imported",
					     .device = 3,
					     .exporter = 0,
					     .function = "cuIpcOpenMemHandle",
					     .allocations = 1,
					     .bytes = 4099,
					     .live_peak = 4099 });
	made_row(sink, (struct fact_memory){ .process = 0,
					     .kind = NULL,
					     .sort = "pool",
					     .device = -1,
					     .exporter = -1,
					     .reason = "the pool was not seen made",
					     .allocations = 2,
					     .bytes = 97,
					     .live_peak = 97 });
}

static char *print(void (*job)(const struct fact_sink *), bool as_text)
{
	const struct report_text_options options = { .width = 100, .exact = true };
	struct report *report = report_new(NULL);
	struct fact_sink sink = report_sink(report);
	struct fact_totals totals = { 0 };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	job(&sink);
	report_finish(report, &totals);
	assert_int_equal(as_text ? report_text(report, &options, out) : report_json(report, out),
			 0);
	fclose(out);
	report_free(report);
	return text;
}

static json_t *load(void (*job)(const struct fact_sink *))
{
	char *text = print(job, false);
	json_t *root = json_loads(text, 0, NULL);

	assert_non_null(root);
	free(text);
	return root;
}

static void is_row(const json_t *rows, size_t i, const char *golden)
{
	char *text = json_dumps(json_array_get(rows, i), JSON_COMPACT | JSON_SORT_KEYS);

	assert_string_equal(text, golden);
	free(text);
}

static void rows(void **state)
{
	json_t *root = load(made_gpu_job), *memory = json_object_get(root, "memory");

	(void)state;
	assert_int_equal(json_array_size(memory), 5);
	is_row(memory, 0,
	       "{\"allocations\":2,\"bytes\":97,\"device\":null,\"exporter\":null,"
	       "\"function\":\"unknown\",\"kind\":\"unknown\",\"live_peak\":97,\"process\":0,"
	       "\"reason\":\"the pool was not seen made\",\"sort\":\"pool\",\"unsized\":0}");
	is_row(memory, 1,
	       "{\"allocations\":5,\"bytes\":0,\"device\":null,\"exporter\":null,"
	       "\"function\":\"cuIpcOpenMemHandle\",\"kind\":\"gpu\",\"live_peak\":0,\"process\":1,"
	       "\"reason\":\"memory of another process\",\"sort\":\"imported\",\"unsized\":5}");
	is_row(memory, 2,
	       "{\"allocations\":1,\"bytes\":4099,\"device\":3,\"exporter\":0,"
	       "\"function\":\"cuIpcOpenMemHandle\",\"kind\":\"gpu\",\"live_peak\":4099,"
	       "\"process\":1,\"reason\":null,\"sort\":\"imported\",\"unsized\":0}");
	is_row(memory, 3,
	       "{\"allocations\":1009,\"bytes\":1048583,\"device\":1,\"exporter\":null,"
	       "\"function\":\"cuMemAlloc\",\"kind\":\"gpu\",\"live_peak\":65537,\"process\":1,"
	       "\"reason\":null,\"sort\":\"plain\",\"unsized\":0}");
	is_row(memory, 4,
	       "{\"allocations\":3,\"bytes\":12289,\"device\":null,\"exporter\":null,"
	       "\"function\":\"cudaHostRegister\",\"kind\":\"pinned\",\"live_peak\":8191,"
	       "\"process\":1,\"reason\":null,\"sort\":\"registered\",\"unsized\":0}");
	json_decref(root);
}

static void is_op(const json_t *op, const char *memory, const char *reason, int count)
{
	const char *got = json_string_value(json_object_get(op, "memory_reason"));

	assert_string_equal(json_string_value(json_object_get(op, "memory")), memory);
	assert_true(reason ? got && !strcmp(got, reason)
			   : json_is_null(json_object_get(op, "memory_reason")));
	assert_int_equal(json_integer_value(json_object_get(op, "count")), count);
}

static void operations(void **state)
{
	json_t *root = load(made_gpu_job), *ops = json_object_get(root, "ops");

	(void)state;
	assert_int_equal(json_array_size(ops), 3);
	is_op(json_array_get(ops, 0), "unknown", made_unseen, 11);
	is_op(json_array_get(ops, 1), "gpu", made_no_stream, 13);
	is_op(json_array_get(ops, 2), "gpu1", NULL, 7);
	json_decref(root);
}

/* Reasons for not knowing what nobody asked for do not split rows. */
static void made_host_job(const struct fact_sink *sink)
{
	fact_put(sink, FACT_PROCESS, &made_processes[0]);
	fact_put(sink, FACT_PROCESS, &made_processes[1]);
	made_op_on(sink, NULL, made_unseen, 11);
	made_op_on(sink, NULL, "no address", 2);
}

static void without_gpu(void **state)
{
	json_t *root = load(made_host_job), *ops = json_object_get(root, "ops");
	char *text = print(made_host_job, true);

	(void)state;
	assert_null(json_object_get(root, "memory"));
	assert_int_equal(json_array_size(ops), 1);
	assert_null(json_object_get(json_array_get(ops, 0), "memory"));
	assert_null(json_object_get(json_array_get(ops, 0), "memory_reason"));
	assert_int_equal(json_integer_value(json_object_get(json_array_get(ops, 0), "count")), 13);
	assert_null(strstr(text, "MEMORY"));
	free(text);
	json_decref(root);
}

static void as_text(void **state)
{
	char *text = print(made_gpu_job, true);
	const char *at = strstr(text, "MEMORY");

	(void)state;
	assert_non_null(at);
	assert_non_null(strstr(at, "gpu1       plain"));
	assert_non_null(strstr(at, "gpu3 of 0  imported"));
	assert_non_null(strstr(at, "memory of another process"));
	assert_non_null(strstr(at, "1,048,583 B"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(operations),
		cmocka_unit_test(without_gpu),
		cmocka_unit_test(as_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
