// SPDX-License-Identifier: BSD-3-Clause
/* Every level of a page's timeline tells of the same work. */
#include "unit/page_compare.h"

#define LEVELS 4

struct level_sums {
	uint64_t started, busy, bytes, waited;
};

/* Over the lanes of a layer. */
static void sum_level(const struct page *page, const char *level, struct level_sums *sums)
{
	struct table lanes, rows;
	size_t count;

	memset(sums, 0, LEVELS * sizeof(*sums));
	table_read(&lanes, page, "lanes");
	table_read(&rows, page, level);
	count = table_rows(&lanes, "layer");
	for (size_t lane = 0; lane < count; lane++) {
		struct level_sums *to = &sums[table_at(&lanes, "layer", lane)];
		size_t end = lane + 1 < count ? table_at(&lanes, level, lane + 1)
					      : table_rows(&rows, "busy");

		for (size_t i = table_at(&lanes, level, lane); i < end; i++) {
			to->started += table_at(&rows, "started", i);
			to->busy += table_at(&rows, "busy", i);
			to->bytes += table_at(&rows, "bytes", i);
			to->waited += table_at(&rows, "waited", i);
		}
	}
	table_release(&lanes);
	table_release(&rows);
}

/* The cube's, whose sums are the report's. */
static struct level_sums cube_sums(const struct page *page, const char *section)
{
	struct level_sums sums;
	struct table table;

	table_read(&table, page, section);
	sums = (struct level_sums){ table_sum(&table, "count"), table_sum(&table, "time_sum"),
				    table_sum(&table, "bytes"), table_sum(&table, "waited") };
	table_release(&table);
	return sums;
}

static void assert_same(const struct level_sums *a, const struct level_sums *b)
{
	assert_int_equal(a->started, b->started);
	assert_int_equal(a->busy, b->busy);
	assert_int_equal(a->bytes, b->bytes);
	assert_int_equal(a->waited, b->waited);
}

/* Of MPI_Init until its thread's next call, which sums leave out: an upper bound. */
static uint64_t silent_time(const struct page *page)
{
	struct table lanes, events;
	uint64_t sum = 0;
	size_t count;

	table_read(&lanes, page, "lanes");
	table_read(&events, page, "events");
	count = table_rows(&lanes, "layer");
	for (size_t lane = 0; lane < count && table_at(&lanes, "layer", lane) < LEVELS - 1;
	     lane++) {
		size_t end = lane + 1 < count ? table_at(&lanes, "events", lane + 1)
					      : table_rows(&events, "duration");

		if (table_at(&lanes, "layer", lane) != LEVEL_MPI)
			continue;
		for (size_t i = table_at(&lanes, "events", lane); i < end; i++)
			if (table_at(&events, "precision", i) == TIME_UPPER_BOUND)
				sum += table_at(&events, "duration", i);
	}
	table_release(&lanes);
	table_release(&events);
	return sum;
}

static void check_levels(const struct page *page)
{
	static const char *const sections[] = { "calls", "ops", "transfers", "transfers" };
	struct level_sums got[LEVELS], want;
	char name[32];

	assert_int_equal(page->timeline.untimed, 0);
	for (size_t level = 0; level < page->levels.len; level++) {
		snprintf(name, sizeof(name), "level%zu", level);
		sum_level(page, name, got);
		for (int layer = 0; layer < LEVELS; layer++) {
			want = cube_sums(page, sections[layer]);
			want.busy += layer == LEVEL_MPI ? silent_time(page) : 0;
			assert_same(&got[layer], &want);
		}
	}
}

static void levels_are_the_cubes_sums(void **state)
{
	static const char *const captures[] = { "send",      "coll",    "rma",
						"isend-tcp", "threads", "hosts.n0 hosts.n1",
						"gromacs" };
	struct made_page made;

	(void)state;
	for (size_t i = 0; i < sizeof(captures) / sizeof(*captures); i++) {
		made_page_of(&made, captures[i], &(struct page_options){ 0 });
		assert_true(made.page->levels.len > 1);
		check_levels(made.page);
		made_page_release(&made);
	}
}

/* With room for ever fewer pieces there are fewer and wider levels, of the same sums. */
static void coarser_is_the_same(void **state)
{
	static const size_t limits[] = { 10000, 1000, 100 };
	struct made_page made;

	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
		made_page_of(&made, "coll", &(struct page_options){ .spans = limits[i] });
		check_levels(made.page);
		made_page_release(&made);
	}
}

/* Sums of a whole capture are of no time: counted, and nowhere on the timeline. */
static void counted(void **state)
{
	struct level_sums got[LEVELS];
	struct made_page made;
	uint64_t facts = 0;

	(void)state;
	made_page_of(&made, "send-count", &(struct page_options){ 0 });
	for (int sort = 0; sort <= PAGE_TRANSFERS; sort++)
		facts += cube_sums(made.page, page_shapes[sort].name).started;
	assert_true(facts > 0);
	assert_int_equal(made.page->timeline.untimed, facts);
	assert_int_equal(made.page->timeline.lanes.len, 0);
	assert_int_equal(made.page->events.seen, 0);
	sum_level(made.page, "level0", got);
	for (int layer = 0; layer < LEVELS; layer++)
		assert_int_equal(got[layer].started + got[layer].busy + got[layer].bytes, 0);
	made_page_release(&made);
}

/* Buckets are in order, begin with the host's trace and end with it. */
static void buckets_are_in_the_span(void **state)
{
	struct table lanes, rows;
	struct made_page made;
	uint64_t last, before = 0;
	size_t lane = 0;

	(void)state;
	made_page_of(&made, "coll", &(struct page_options){ 0 });
	table_read(&lanes, made.page, "lanes");
	table_read(&rows, made.page, "level0");
	last = page_hosts_buckets(&made.page->hosts, made.page->levels.data[0].shift);
	for (size_t i = 0; i < table_rows(&rows, "bucket"); i++) {
		uint64_t bucket = table_at(&rows, "bucket", i);
		bool first = false;

		while (lane < table_rows(&lanes, "level0") &&
		       table_at(&lanes, "level0", lane) <= i) {
			lane++;
			first = true;
		}
		assert_true(bucket < last);
		assert_true(first || bucket > before);
		before = bucket;
	}
	table_release(&lanes);
	table_release(&rows);
	made_page_release(&made);
}

static uint64_t report_sum(json_t *rows, const char *member)
{
	uint64_t sum = 0;
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) sum +=
		(uint64_t)json_integer_value(json_object_get(row, member));
	return sum;
}

/* Single waits are those of the report's rows, each in its call and of its process. */
static void waits_are_the_reports(void **state)
{
	struct made_page made;
	struct table waits, events, calls;
	json_t *report;
	size_t count;

	(void)state;
	made_page_of(&made, "gromacs", &(struct page_options){ 0 });
	report = report_of(made.page);
	table_read(&waits, made.page, "waits");
	table_read(&events, made.page, "events");
	table_read(&calls, made.page, "calls");
	count = table_rows(&waits, "start");
	assert_int_equal(count, report_sum(json_object_get(report, "waits"), "count"));
	assert_int_equal(table_sum(&calls, "waited"),
			 report_sum(json_object_get(report, "time"), "wait_ns"));
	assert_true(count > 0);
	for (size_t i = 0; i < count; i++) {
		uint64_t key;

		assert_true(table_at(&waits, "call", i) > 0);
		key = table_at(&events, "key", table_at(&waits, "call", i) - 1);
		assert_int_equal(table_at(&calls, "process", key), table_at(&waits, "process", i));
		assert_true(!i ||
			    table_at(&waits, "process", i) > table_at(&waits, "process", i - 1) ||
			    table_at(&waits, "start", i) >= table_at(&waits, "start", i - 1));
	}
	table_release(&waits);
	table_release(&events);
	table_release(&calls);
	json_decref(report);
	made_page_release(&made);
}

/* With room for fewer events there are fewer waits, and none without its time. */
static void waits_are_thinned(void **state)
{
	struct made_page made;
	struct table waits;

	(void)state;
	made_page_of(&made, "gromacs", &(struct page_options){ .events = 300 });
	table_read(&waits, made.page, "waits");
	assert_in_range(table_rows(&waits, "start"), 1, 300);
	assert_int_equal(table_rows(&waits, "start"), table_rows(&waits, "kind"));
	table_release(&waits);
	made_page_release(&made);
}

/* What lasts over buckets is spread over them as long as it is in each. */
static void spread(void **state)
{
	struct page_hosts hosts = { 0 };
	struct page_timeline timeline;
	struct page_work work = { 1000, 1900, 900, 1, 64 };
	static const uint64_t busy[] = { 24, 256, 256, 256, 108 };

	(void)state;
	page_hosts_process(&hosts, &(struct fact_process){ .index = 0, .host = 0 });
	page_hosts_see(&hosts, 0, 1000, 1900);
	page_timeline_init(&timeline, &hosts, 1000);
	page_timeline_add(&timeline, 0, 1, &work);
	assert_int_equal(timeline.shift, 8);
	assert_int_equal(timeline.spans.len, 5);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(timeline.spans.data[i].bucket, 3 + i);
		assert_int_equal(timeline.spans.data[i].busy, busy[i]);
		assert_int_equal(timeline.spans.data[i].started, i == 0);
	}
	assert_true(page_timeline_coarsen(&timeline, 2));
	assert_int_equal(timeline.spans.len, 2);
	assert_int_equal(timeline.spans.data[0].busy, 24);
	assert_int_equal(timeline.spans.data[1].busy, 876);
	page_timeline_release(&timeline);
	page_hosts_release(&hosts);
}

/*
 * Two hosts whose times of day are 5 ms apart, though messages of 300 ns go both ways: they lie as
 * the messages say. A third one, which sends none, lies by its time of day.
 */
static void hosts_lie_as_messages_say(void **state)
{
	static const int64_t mono[] = { 0, 1000000000, 0 }; /* of each clock, at one moment */
	static const int64_t wrong[] = { 0, 5000000, 0 }; /* of the time of day */
	struct page *page = page_new(&(struct page_options){ 0 });
	const struct fact_sink sink = page_sink(page);
	struct fact_totals totals = { 0 };
	json_int_t begin, reference, uncertainty;
	json_t *directory, *hosts;

	(void)state;
	for (int i = 0; i < 3; i++) {
		const struct fact_process process = { .index = i, .host = i, .rank = i };
		const struct fact_clock clock = { .host = i,
						  .mono = (uint64_t)(50000 + mono[i]),
						  .real = (uint64_t)(9000050000 + wrong[i]) };
		const struct fact_call call = { .process = i,
						.tid = 1,
						.function = "MPI_Send",
						.start = (uint64_t)(100000 + mono[i]),
						.end = (uint64_t)(900000 + mono[i]),
						.end_precision = TIME_EXACT };

		fact_put(&sink, FACT_PROCESS, &process);
		fact_put(&sink, FACT_CLOCK, &clock);
		fact_put(&sink, FACT_CALL, &call);
	}
	for (int i = 0; i < 40; i++) {
		const int src = i % 2, dst = 1 - src;
		const int64_t at = 110000 + 10000 * i;
		const struct fact_message message = { .src = src,
						      .dst = dst,
						      .send_start = (uint64_t)(at + mono[src]),
						      .arrival = (uint64_t)(at + 300 + mono[dst]) };

		fact_put(&sink, FACT_MESSAGE, &message);
	}
	assert_int_equal(page_put(page, &totals), 0);
	directory = page_directory(page);
	hosts = json_object_get(json_object_get(directory, "time"), "hosts");
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(json_unpack(json_array_get(hosts, i), "{s:I, s:I, s:I}",
					     "begin_ns", &begin, "reference", &reference,
					     "uncertainty_ns", &uncertainty),
				 0);
		assert_int_equal(reference, i == 1 ? 0 : (json_int_t)i);
		assert_true(llabs(begin) <= uncertainty + 1 && uncertainty < 400);
	}
	json_decref(directory);
	page_free(page);
}

/* Its return is not recorded, and nothing within it: it is drawn until its thread's next call. */
static void init_is_as_long_as_it_was(void **state)
{
	struct page *page = page_new(&(struct page_options){ 0 });
	const struct fact_sink sink = page_sink(page);
	const struct fact_process process = { .rank = 0 };
	const char *const functions[] = { "MPI_Init_thread", "MPI_Send" };
	struct fact_totals totals = { 0 };
	struct table events, calls;

	(void)state;
	fact_put(&sink, FACT_PROCESS, &process);
	for (uint64_t i = 0; i < 2; i++)
		fact_put(&sink, FACT_CALL,
			 &(struct fact_call){ .id = 1 + i,
					      .tid = 1,
					      .function = functions[i],
					      .start = 1000 + 5000 * i,
					      .end = 1000 + 5000 * i,
					      .until = 6000 + 5000 * i,
					      .end_precision = TIME_LOWER_BOUND });
	assert_int_equal(page_put(page, &totals), 0);
	table_read(&events, page, "events");
	table_read(&calls, page, "calls");
	assert_int_equal(table_rows(&events, "duration"), 2);
	assert_int_equal(table_at(&events, "duration", 0), 5000);
	assert_int_equal(table_at(&events, "precision", 0), TIME_UPPER_BOUND);
	assert_int_equal(table_at(&events, "duration", 1), 0);
	assert_int_equal(table_at(&events, "precision", 1), TIME_LOWER_BOUND);
	assert_int_equal(table_sum(&calls, "time_sum"), 0);
	table_release(&events);
	table_release(&calls);
	page_free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_are_the_cubes_sums),
		cmocka_unit_test(coarser_is_the_same),
		cmocka_unit_test(counted),
		cmocka_unit_test(buckets_are_in_the_span),
		cmocka_unit_test(waits_are_the_reports),
		cmocka_unit_test(waits_are_thinned),
		cmocka_unit_test(hosts_lie_as_messages_say),
		cmocka_unit_test(init_is_as_long_as_it_was),
		cmocka_unit_test(spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
