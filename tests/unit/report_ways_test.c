// SPDX-License-Identifier: BSD-3-Clause
/* Messages between GPUs in reports: their ways, their copies apart, memory at both ends. */
#include "match_ways.h"
#include "show/report/report.h"

#define STAGED_BYTES 8388617
#define EAGER_BYTES 1009
#define FETCHED_BYTES 1048583

/* All ways that there are, one after the other, and a message of the host's memory. */
static void all_ways(struct pair *p)
{
	ways_init(p);
	ways_post(&p->b, 1, 4096, TARGET, RECV_REQ);
	ways_send(&p->a, &p->b, 1, EAGER_BYTES, SOURCE, 0);
	ways_pack(&p->a, &p->b, 1, EAGER_BYTES, SOURCE, 0);
	job_op_end(&p->a);
	ways_unpack(&p->b, 1, EAGER_BYTES, TARGET, RECV_REQ);
	ways_fetched(p, 2, FETCHED_BYTES);
	ways_staged(p, 3, STAGED_BYTES, 524288, STAGED);
	ways_staged(p, 4, STAGED_BYTES, 524288, STAGED_V2);
	ways_staged(p, 5, FETCHED_BYTES, 524288, STAGED_MAPPED);
	ways_post(&p->b, 6, 4096, STAGE(2), RECV_REQ);
	job_send_short(&p->a, &p->b, 6, 13);
	job_arrive(&p->b, 6, 13, RECV_REQ);
}

static char *print(void (*job)(struct pair *), struct report_filter *filter, bool as_text)
{
	const struct report_text_options options = { .width = 140, .exact = true };
	struct analysis *analysis = analysis_new();
	struct report *report = report_new(filter);
	struct fact_sink sink = report_sink(report);
	struct record_source source;
	struct fact_totals totals;
	struct pair p;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	job(&p);
	source = (struct record_source){
		.ctx = &p.job, .next = job_next, .rewind = job_rewind, .sides = p.job.sides
	};
	source.stats.produced[UB_OP] = p.job.records.len;
	analysis_add_source(analysis, &source);
	assert_int_equal(analysis_run(analysis, &sink, &totals), 0);
	report_finish(report, &totals);
	if (as_text)
		assert_int_equal(report_text(report, &options, out), 0);
	else
		assert_int_equal(report_json(report, out), 0);
	fclose(out);
	report_free(report);
	analysis_free(analysis);
	job_release(&p.job);
	return text;
}

static json_t *load(struct report_filter *filter)
{
	char *text = print(all_ways, filter, false);
	json_t *root = json_loads(text, 0, NULL);

	assert_non_null(root);
	free(text);
	return root;
}

static uint64_t number(const json_t *object, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(object, name));
}

static bool is_list(const json_t *array, const char *const *names)
{
	size_t count = 0;

	for (; names[count]; count++)
		if (!json_is_string(json_array_get(array, count)) ||
		    strcmp(json_string_value(json_array_get(array, count)), names[count]))
			return false;
	return json_array_size(array) == count;
}

static const json_t *row_of(const json_t *root, const char *const *chain, const char *const *via)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(root, "messages"), i, row)
	{
		if (is_list(json_object_get(row, "chain"), chain) &&
		    is_list(json_object_get(row, "via"), via))
			return row;
	}
	fail_msg("no row with that chain");
	return NULL;
}

static void is_row(const json_t *row, uint64_t count, uint64_t bytes, uint64_t copies,
		   uint64_t copied)
{
	assert_int_equal(number(row, "count"), count);
	assert_int_equal(number(row, "bytes"), bytes);
	assert_int_equal(number(row, "copies"), copies);
	assert_int_equal(number(row, "copy_bytes"), copied);
	assert_true(json_is_null(json_object_get(row, "chain_reason")));
}

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void rows(void **state)
{
	json_t *root = load(NULL), *attribution = json_object_get(root, "attribution");

	(void)state;
	is_row(row_of(root, LIST("gpu0", "gpu1"), LIST("cuda_ipc")), 1, FETCHED_BYTES, 0, 0);
	is_row(row_of(root, LIST("gpu0", "pinned", "pinned", "gpu1"),
		      LIST("cuda_copy", "cma", "cuda_copy")),
	       2, 2 * STAGED_BYTES, 68, 4 * STAGED_BYTES);
	is_row(row_of(root, LIST("gpu0", "pinned", "gpu1"), LIST("cuda_copy", "cuda_copy")), 1,
	       FETCHED_BYTES, 3, FETCHED_BYTES);
	is_row(row_of(root, LIST("gpu0", "host", "host", "gpu1"),
		      LIST("cuda_copy", "posix", "cuda_copy")),
	       1, EAGER_BYTES, 2, 2 * EAGER_BYTES);
	is_row(row_of(root, LIST("host", "pinned"), LIST("posix")), 1, 13, 0, 0);
	assert_int_equal(number(attribution, "data_bytes"),
			 EAGER_BYTES + 2 * FETCHED_BYTES + 2 * STAGED_BYTES + 13);
	assert_int_equal(number(attribution, "copies"), 2 + 68 + 3);
	assert_int_equal(number(attribution, "copy_bytes"),
			 2 * EAGER_BYTES + 4 * STAGED_BYTES + FETCHED_BYTES);
	assert_int_equal(number(attribution, "unexplained"), 0);
	assert_int_equal(number(attribution, "copy_unexplained"), 0);
	json_decref(root);
}

static void as_text(void **state)
{
	char *text = print(all_ways, NULL, true);
	const char *at = strstr(text, "MEMORY WAYS");

	(void)state;
	assert_non_null(at);
	assert_non_null(
		strstr(at, "gpu0 -> pinned -> pinned -> gpu1  cuda_copy, cma, cuda_copy  "));
	assert_non_null(
		strstr(at, "gpu0 -> gpu1                      cuda_ipc                   "));
	at = strstr(text, "PATHS");
	assert_non_null(strstr(at, "gpu0 -> gpu1"));
	assert_non_null(strstr(at, "  copy "));
	assert_non_null(strstr(at, "\n  0 -> 1               6  18,875,422 B"));
	assert_null(strstr(at, "\n  1 -> 0 "));
	assert_non_null(strstr(at, "  gpu0 -> gpu1 99 %, unknown -> pin"));
	free(text);
}

/* Either end of it has the memory; a message has it in a buffer, not on its way. */
static void by_memory(void **state)
{
	struct report_filter filter = { 0 };
	const char *why;
	json_t *root;

	(void)state;
	assert_int_equal(filter_add(&filter, FILTER_MEMORY, "gpu1", &why), 0);
	root = load(&filter);
	filter_release(&filter);
	assert_int_equal(json_array_size(json_object_get(root, "messages")), 4);
	assert_int_equal(json_array_size(json_object_get(root, "ops")), 3);
	assert_int_equal(json_array_size(json_object_get(root, "transfers")), 3);
	json_decref(root);
	assert_int_equal(filter_add(&filter, FILTER_MEMORY, "pinned", &why), 0);
	root = load(&filter);
	filter_release(&filter);
	assert_int_equal(json_array_size(json_object_get(root, "messages")), 1);
	assert_int_equal(json_array_size(json_object_get(root, "ops")), 1);
	json_decref(root);
}

static void strange(struct pair *p)
{
	ways_init(p);
	ways_copy(&p->a, AT_PUT_SHORT, 1013, BOUNCE, SOURCE);
}

static void without_operation(void **state)
{
	char *text = print(strange, NULL, true);

	(void)state;
	assert_non_null(strstr(text,
			       "  copies       1,013 B of 1,013 B copied within processes have no "
			       "operation\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(as_text),
		cmocka_unit_test(by_memory),
		cmocka_unit_test(without_operation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
