// SPDX-License-Identifier: BSD-3-Clause
/* Counters of jobs: they grow, stay for a while, and are bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "live/jobs.h"

#define SECOND 1000000000ull
#define KEEP (5 * SECOND)

struct view {
	struct live *live;
	struct jobs *jobs;
	struct fact_sink sink;
	uint64_t now, watched, lost;
};

static struct view view_new(void)
{
	struct view view = {
		.live = live_new(), .jobs = jobs_new(KEEP), .now = 100 * SECOND, .watched = SECOND
	};

	view.sink = live_sink(view.live);
	return view;
}

static void view_free(struct view *view)
{
	jobs_free(view->jobs);
	live_free(view->live);
}

static void begin(struct view *view)
{
	const struct live_tracer tracer = { .from = view->now,
					    .to = view->now + SECOND,
					    .watched = view->watched,
					    .away = view->watched < SECOND,
					    .lost = view->lost };

	view->now += SECOND;
	live_begin(view->live, &tracer);
}

static void end(struct view *view)
{
	const struct fact_totals totals = { 0 };

	live_end(view->live, &totals);
	jobs_add(view->jobs, view->live);
}

static void process(struct view *view, int index, uint32_t pid, const char *job, const char *step)
{
	const struct fact_process fact = { .index = index,
					   .host_name = "a",
					   .tgid = pid,
					   .start_time = pid,
					   .job = "of the launcher",
					   .batch_job = job,
					   .step = step };

	fact_put(&view->sink, FACT_PROCESS, &fact);
}

static void ends(struct view *view, int index, int status, uint32_t signal)
{
	const struct fact_lifetime fact = {
		.process = index, .exited = true, .exit_status = status, .exit_signal = signal
	};

	fact_put(&view->sink, FACT_LIFETIME, &fact);
}

static void moves(struct view *view, int index, const char *transport, const char *device,
		  uint64_t bytes)
{
	const struct fact_transfer fact = { .process = index,
					    .peer = -1,
					    .op = "put_zcopy",
					    .transport = transport,
					    .device = device,
					    .kind = KIND_DATA,
					    .data_path = "direct" };
	const struct fact_sums sums = { .count = 1, .bytes = bytes };

	fact_put_sums(&view->sink, FACT_TRANSFERS, &fact, &sums);
}

static void fails(struct view *view, int index, const char *status, const char *device, int count)
{
	const struct fact_error fact = { .process = index,
					 .what = device ? FACT_ERROR_TRANSFER
							: FACT_ERROR_OPERATION,
					 .status = status,
					 .op = "tag_send",
					 .transport = device ? "tcp" : NULL,
					 .device = device };
	const struct fact_sums sums = { .count = count };

	fact_put_sums(&view->sink, FACT_ERRORS, &fact, &sums);
}

static void transfers(struct view *view, int index, const char *device, uint64_t bytes)
{
	moves(view, index, "rc_mlx5", device, bytes);
}

static struct live_job *job_at(const struct view *view, size_t i)
{
	struct live_job *const *all;

	assert_true(jobs_all(view->jobs, &all) > i);
	return all[i];
}

static size_t jobs_count(const struct view *view)
{
	struct live_job *const *all;

	return jobs_all(view->jobs, &all);
}

static uint64_t errors_of(const struct live_job *job, const char *status)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < JOB_ERRORS + 1; i++)
		if (!strcmp(job->errors[i].status, status))
			sum += job->errors[i].count;
	return sum;
}

/* By status, of both processes; those of no process are nobody's, and many go to one row. */
static void test_errors_are_bounded(void **state)
{
	struct view view = view_new();
	char device[16];

	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(&view);
		process(&view, 0, 7, "12", "0");
		process(&view, 1, 8, "12", "0");
		fails(&view, 0, "UCS_ERR_CANCELED", NULL, 2);
		fails(&view, 1, "UCS_ERR_CANCELED", NULL, 3);
		fails(&view, -1, "UCS_ERR_CANCELED", NULL, 1);
		for (int k = 0; k < 2 * JOB_ERRORS; k++) {
			snprintf(device, sizeof(device), "eth%d", k);
			fails(&view, 0, "UCS_ERR_IO_ERROR", device, 1);
		}
		end(&view);
	}
	assert_int_equal(errors_of(job_at(&view, 0), "UCS_ERR_CANCELED"), 10);
	assert_int_equal(errors_of(job_at(&view, 0), "UCS_ERR_IO_ERROR"), 2 * (JOB_ERRORS - 1));
	assert_int_equal(errors_of(job_at(&view, 0), "other"), 2 * (JOB_ERRORS + 1));
	assert_int_equal(live_unattributed(view.live), 2);
	view_free(&view);
}

static void test_counters_stay_after_the_end(void **state)
{
	struct view view = view_new();

	(void)state;
	for (int i = 0; i < 3; i++) {
		begin(&view);
		process(&view, 0, 7, "12", "0");
		process(&view, 1, 8, "12", "0");
		process(&view, 2, 9, "12", "1");
		transfers(&view, 0, "a", 10);
		transfers(&view, 1, "a", 10);
		if (i == 2) {
			ends(&view, 0, 0, 0);
			ends(&view, 1, -1, 9);
		}
		end(&view);
		assert_int_equal(jobs_count(&view), 2);
		assert_int_equal(job_at(&view, 0)->paths[0].sums.bytes, 20 * (i + 1));
		assert_int_equal(job_at(&view, 0)->path_count, 1);
		assert_int_equal(job_at(&view, 0)->processes, i < 2 ? 2 : 0);
		assert_int_equal(job_at(&view, 0)->line, i == 2);
	}
	assert_int_equal(job_at(&view, 0)->exits[JOB_EXIT_0], 1);
	assert_int_equal(job_at(&view, 0)->exits[JOB_EXIT_SIGNAL], 1);
	for (int i = 0; i < 5; i++) {
		begin(&view);
		process(&view, 2, 9, "12", "1");
		end(&view);
		assert_int_equal(jobs_count(&view), i < 4 ? 2 : 1);
		assert_false(job_at(&view, 0)->line);
	}
	assert_string_equal(job_at(&view, 0)->step, "1");
	assert_true(job_at(&view, 0)->alive);
	view_free(&view);
}

static void test_a_job_within_an_interval(void **state)
{
	struct view view = view_new();

	(void)state;
	begin(&view);
	process(&view, 0, 7, "12", NULL);
	transfers(&view, 0, "a", 10);
	ends(&view, 0, 3, 0);
	end(&view);
	assert_true(job_at(&view, 0)->line);
	assert_int_equal(job_at(&view, 0)->ranks, 1);
	assert_int_equal(job_at(&view, 0)->exits[JOB_EXIT_OTHER], 1);
	view_free(&view);
}

static void test_paths_are_bounded(void **state)
{
	struct view view = view_new();
	char device[16];
	uint64_t bytes = 0;

	(void)state;
	begin(&view);
	process(&view, 0, 7, NULL, NULL);
	for (int i = 0; i < 3 * JOB_PATHS; i++) {
		snprintf(device, sizeof(device), "nic%d", i);
		transfers(&view, 0, device, 5);
	}
	end(&view);
	for (size_t i = 0; i < JOB_PATHS + 2; i++)
		bytes += job_at(&view, 0)->paths[i].sums.bytes;
	assert_int_equal(bytes, 5 * 3 * JOB_PATHS);
	assert_int_equal(job_at(&view, 0)->paths[JOB_PATHS].sums.bytes, 5 * 2 * JOB_PATHS);
	assert_string_equal(job_at(&view, 0)->id, "launcher:of the launcher");
	view_free(&view);
}

/* A process for each of as many jobs as there is room for, with some bytes; the first ones end. */
static void fill(struct view *view, int ended, uint64_t bytes)
{
	char id[16];

	begin(view);
	for (int i = 0; i < JOBS_MOST; i++) {
		snprintf(id, sizeof(id), "%d", i);
		process(view, i, 100 + i, id, NULL);
		if (bytes)
			transfers(view, i, "a", bytes);
		if (i < ended)
			ends(view, i, 0, 0);
	}
	end(view);
}

/* More jobs than there is room for: ended ones go first, then all others are one job. */
static void test_jobs_are_bounded(void **state)
{
	struct view view = view_new();
	char id[16];

	(void)state;
	fill(&view, 10, 0);
	assert_int_equal(jobs_count(&view), JOBS_MOST);
	begin(&view);
	for (int i = 10; i < JOBS_MOST + 30; i++) {
		snprintf(id, sizeof(id), "%d", i);
		process(&view, i, 100 + i, id, NULL);
		transfers(&view, i, "a", 1);
	}
	end(&view);
	assert_int_equal(jobs_count(&view), JOBS_MOST + 1);
	assert_string_equal(job_at(&view, 0)->id, "other");
	assert_int_equal(job_at(&view, 0)->processes, 20);
	assert_int_equal(job_at(&view, 0)->paths[0].sums.bytes, 20);
	assert_int_equal(jobs_totals(view.jobs)->dropped, 10);
	assert_int_equal(jobs_totals(view.jobs)->folded, 20);
	/* all end, and "other" stays: its counters go on */
	begin(&view);
	end(&view);
	for (int i = 0; i < 6; i++) {
		begin(&view);
		end(&view);
	}
	assert_int_equal(jobs_count(&view), 1);
	assert_int_equal(job_at(&view, 0)->paths[0].sums.bytes, 20);
	view_free(&view);
}

/* A job that ended long ago and comes again is no longer the one that gives way. */
static void test_a_job_comes_again(void **state)
{
	struct view view = view_new();

	(void)state;
	fill(&view, 1, 1);
	begin(&view);
	process(&view, JOBS_MOST, 1000, "0", NULL);
	process(&view, JOBS_MOST + 1, 1001, "new", NULL);
	transfers(&view, JOBS_MOST, "a", 1);
	transfers(&view, JOBS_MOST + 1, "a", 1);
	ends(&view, JOBS_MOST, 0, 0);
	end(&view);
	assert_string_equal(job_at(&view, 0)->id, "other");
	assert_int_equal(job_at(&view, 0)->processes, 1);
	assert_string_equal(job_at(&view, 1)->id, "0");
	assert_int_equal(job_at(&view, 1)->paths[0].sums.bytes, 2);
	assert_true(job_at(&view, 1)->line);
	view_free(&view);
}

/* Names that are written alike are one row: monitoring systems refuse two of the same labels. */
static void test_no_two_rows_are_alike(void **state)
{
	static const char *const ids[] = { "a\001b", "a\002b",
					   "a\xff"
					   "b",
					   "a?b" };
	struct view view = view_new();
	char longer[400];

	(void)state;
	begin(&view);
	for (int i = 0; i < 4; i++) {
		process(&view, i, 100 + i, ids[i], i % 2 ? "" : NULL);
		moves(&view, i, i % 2 ? "unknown" : NULL, i < 2 ? NULL : "unknown", 10);
		moves(&view, i, "tcp", i % 2 ? "e\001" : "e\002", 10);
	}
	for (int i = 4; i < 6; i++) {
		memset(longer, 'x', sizeof(longer));
		snprintf(longer + 300, 100, "%d", i);
		process(&view, i, 100 + i, longer, NULL);
	}
	end(&view);
	assert_int_equal(jobs_count(&view), 2);
	assert_string_equal(job_at(&view, 0)->id, "a?b");
	assert_string_equal(job_at(&view, 0)->step, "");
	assert_int_equal(job_at(&view, 0)->ranks, 4);
	assert_int_equal(job_at(&view, 0)->path_count, 2);
	assert_string_equal(job_at(&view, 0)->paths[0].transport, "");
	assert_string_equal(job_at(&view, 0)->paths[0].device, "");
	assert_int_equal(job_at(&view, 0)->paths[0].sums.bytes, 40);
	assert_string_equal(job_at(&view, 0)->paths[1].device, "e?");
	assert_int_equal(job_at(&view, 1)->ranks, 2);
	assert_int_equal(strlen(job_at(&view, 1)->id), sizeof(job_at(&view, 1)->id) - 1);
	view_free(&view);
}

/* A job that is really called so is the one of all others, before and after there is need of it. */
static void test_a_job_called_other(void **state)
{
	struct view view = view_new();
	char id[16];

	(void)state;
	begin(&view);
	process(&view, 0, 1, "other", NULL);
	process(&view, 1, 2, "other", "0");
	for (int i = 2; i < JOBS_MOST + 2; i++) {
		snprintf(id, sizeof(id), "%d", i);
		process(&view, i, 100 + i, id, NULL);
	}
	end(&view);
	for (size_t i = 0; i < jobs_count(&view); i++)
		for (size_t k = 0; k < i; k++)
			assert_true(strcmp(job_at(&view, i)->id, job_at(&view, k)->id) ||
				    strcmp(job_at(&view, i)->step, job_at(&view, k)->step));
	assert_string_equal(job_at(&view, 0)->id, "other");
	assert_int_equal(job_at(&view, 0)->processes, 1 + jobs_totals(view.jobs)->folded);
	assert_true(jobs_totals(view.jobs)->folded > 0);
	view_free(&view);
}

/* Lines of a job that comes again add up to it; each has what was missed in that time alone. */
static void test_lines_add_up(void **state)
{
	struct view view = view_new();
	uint64_t most, data;
	struct job_sums sums;

	(void)state;
	view.lost = 100; /* before the job came */
	begin(&view);
	end(&view);
	begin(&view);
	process(&view, 0, 7, "12", NULL);
	transfers(&view, 0, "a", 10);
	ends(&view, 0, 0, 0);
	end(&view);
	sums = job_unreported(job_at(&view, 0));
	assert_int_equal(sums.ranks, 1);
	assert_int_equal(sums.lost, 0);
	assert_string_equal(job_top(job_at(&view, 0), &most, &data)->device, "a");
	assert_int_equal(most, 10);
	job_mark_reported(job_at(&view, 0));
	begin(&view);
	end(&view);
	assert_null(job_top(job_at(&view, 0), &most, &data));
	view.watched = SECOND / 4;
	begin(&view);
	process(&view, 0, 8, "12", NULL);
	process(&view, 1, 9, "12", NULL);
	transfers(&view, 0, "b", 3);
	end(&view);
	view.lost += 5;
	begin(&view);
	process(&view, 0, 8, "12", NULL);
	process(&view, 1, 9, "12", NULL);
	ends(&view, 0, 0, 0);
	ends(&view, 1, 0, 0);
	end(&view);
	sums = job_unreported(job_at(&view, 0));
	assert_int_equal(sums.ranks, 2);
	assert_int_equal(sums.lost, 5);
	assert_int_equal(sums.unwatched, 2 * (SECOND - SECOND / 4));
	assert_int_equal(job_at(&view, 0)->seen - job_at(&view, 0)->began, 2 * SECOND);
	assert_string_equal(job_top(job_at(&view, 0), &most, &data)->device, "b");
	assert_int_equal(data, 3);
	assert_int_equal(job_at(&view, 0)->ranks, 3);
	view_free(&view);
}

/* Time before the probes of a process's libraries is told once; of several at once the longest. */
static void test_late_processes(void **state)
{
	struct view view = view_new();
	struct job_sums sums;

	(void)state;
	for (int i = 0; i < 3; i++) {
		begin(&view);
		for (int rank = 0; rank < 2; rank++) {
			process(&view, rank, 7 + rank, "12", NULL);
			fact_put(&view.sink, FACT_LIFETIME,
				 &(struct fact_lifetime){ .process = rank,
							  .exited = i == 2,
							  .unprobed = i ? 10 + rank : 0 });
		}
		end(&view);
	}
	sums = job_unreported(job_at(&view, 0));
	assert_int_equal(sums.unprobed, 11);
	assert_int_equal(sums.unwatched, 11);
	assert_int_equal(job_at(&view, 0)->late, 2);
	job_mark_reported(job_at(&view, 0));
	assert_int_equal(job_unreported(job_at(&view, 0)).unprobed, 0);
	view_free(&view);
}

/* They are in no job's rows, and counted apart. */
static void test_events_of_no_process(void **state)
{
	struct view view = view_new();

	(void)state;
	begin(&view);
	process(&view, 0, 7, "12", "0");
	transfers(&view, 0, "a", 10);
	end(&view);
	assert_int_equal(live_unattributed(view.live), 0);
	for (int i = 0; i < 2; i++) {
		begin(&view);
		process(&view, 0, 7, "12", "0");
		fact_put_sums(&view.sink, FACT_TRANSFERS,
			      &(struct fact_transfer){ .process = -1, .peer = -1, .op = "other" },
			      &(struct fact_sums){ .count = 4, .bytes_unknown = 4 });
		fact_put_sums(&view.sink, FACT_OPS,
			      &(struct fact_op){ .process = -1, .op = "other" },
			      &(struct fact_sums){ .count = 2 });
		fact_put_sums(&view.sink, FACT_CALLS, &(struct fact_call){ .process = -1 },
			      &(struct fact_sums){ .count = 1 });
		end(&view);
	}
	assert_int_equal(live_unattributed(view.live), 14);
	assert_int_equal(job_at(&view, 0)->paths[0].sums.bytes, 10);
	assert_int_equal(jobs_count(&view), 1);
	view_free(&view);
}

/* Rows stay what they are when texts are forgotten, and those of ended jobs go. */
static void test_texts_are_forgotten(void **state)
{
	struct view view = view_new();
	char id[16], device[16];

	(void)state;
	for (int i = 0; i < 3000; i++) {
		snprintf(id, sizeof(id), "%d", i);
		snprintf(device, sizeof(device), "nic%d", i);
		begin(&view);
		process(&view, 0, 7, "12", "0");
		transfers(&view, 0, "a", 10);
		process(&view, 1, 100 + i, id, NULL);
		transfers(&view, 1, device, 1);
		ends(&view, 1, 0, 0);
		end(&view);
		live_forget(view.live);
	}
	assert_string_equal(job_at(&view, 0)->id, "12");
	assert_int_equal(job_at(&view, 0)->paths[0].sums.bytes, 30000);
	assert_int_equal(job_at(&view, 0)->path_count, 1);
	assert_int_equal(job_at(&view, 0)->ranks, 1);
	assert_true(live_texts(view.live) < 1000);
	view_free(&view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters_stay_after_the_end),
		cmocka_unit_test(test_a_job_within_an_interval),
		cmocka_unit_test(test_paths_are_bounded),
		cmocka_unit_test(test_jobs_are_bounded),
		cmocka_unit_test(test_a_job_comes_again),
		cmocka_unit_test(test_no_two_rows_are_alike),
		cmocka_unit_test(test_a_job_called_other),
		cmocka_unit_test(test_lines_add_up),
		cmocka_unit_test(test_errors_are_bounded),
		cmocka_unit_test(test_late_processes),
		cmocka_unit_test(test_events_of_no_process),
		cmocka_unit_test(test_texts_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
