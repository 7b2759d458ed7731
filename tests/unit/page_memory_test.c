// SPDX-License-Identifier: BSD-3-Clause
/* Memory at both ends, chains and copies: what a page has of them is the report's. */
#include "match_ways.h"
#include "unit/page_compare.h"

#define STAGED_BYTES 8388617
#define FETCHED_BYTES 1048583

static void job(struct pair *p)
{
	ways_init(p);
	ways_fetched(p, 2, FETCHED_BYTES);
	ways_staged(p, 3, STAGED_BYTES, 524288, STAGED);
	ways_staged(p, 5, FETCHED_BYTES, 524288, STAGED_MAPPED);
	ways_post(&p->b, 6, 4096, STAGE(2), RECV_REQ);
	job_send_short(&p->a, &p->b, 6, 13);
	job_arrive(&p->b, 6, 13, RECV_REQ);
}

static void memory_is_the_reports(void **state)
{
	struct page *page = page_new(&(struct page_options){ 0 });
	struct analysis *analysis = analysis_new();
	struct fact_sink sink = page_sink(page);
	struct record_source source;
	struct fact_totals totals;
	struct table messages;
	struct pair p;
	json_t *report;

	(void)state;
	job(&p);
	source = (struct record_source){
		.ctx = &p.job, .next = job_next, .rewind = job_rewind, .sides = p.job.sides
	};
	source.stats.produced[UB_OP] = p.job.records.len;
	analysis_add_source(analysis, &source);
	assert_int_equal(analysis_run(analysis, &sink, &totals), 0);
	assert_int_equal(page_put(page, &totals), 0);
	report = report_of(page);
	assert_non_null(
		json_object_get(json_array_get(json_object_get(report, "messages"), 0), "chain"));
	check_sections(page, report);
	table_read(&messages, page, "messages");
	assert_int_equal(table_sum(&messages, "bytes"), 2 * FETCHED_BYTES + STAGED_BYTES + 13);
	assert_true(table_sum(&messages, "copy_bytes") >= 2 * STAGED_BYTES);
	table_release(&messages);
	json_decref(report);
	page_free(page);
	analysis_free(analysis);
	job_release(&p.job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_the_reports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
