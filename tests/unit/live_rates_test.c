// SPDX-License-Identifier: BSD-3-Clause
/* Intervals of a live view: rates, sums, ages of calls, processes that come and go. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "live/live.h"

#define SECOND 1000000000ull

struct view {
	struct live *live;
	struct fact_sink sink;
	uint64_t now;
};

static struct view view_new(void)
{
	struct view view = { .live = live_new(), .now = 100 * SECOND };

	view.sink = live_sink(view.live);
	return view;
}

static void begin(struct view *view, uint64_t length, uint64_t watched)
{
	const struct live_tracer tracer = {
		.from = view->now,
		.to = view->now + length,
		.watched = watched,
		.away = watched < length,
	};

	view->now += length;
	live_begin(view->live, &tracer);
}

static void end(struct view *view)
{
	const struct fact_totals totals = { 0 };

	live_end(view->live, &totals);
}

static void process(struct view *view, int index, uint32_t pid, int rank)
{
	const struct fact_process fact = {
		.index = index,
		.host_name = "a",
		.pid = pid,
		.tgid = pid,
		.start_time = pid * 10,
		.comm = "job",
		.rank = rank,
		.size = 2,
	};

	fact_put(&view->sink, FACT_PROCESS, &fact);
}

static void calls(struct view *view, int index, uint64_t count)
{
	const struct fact_call fact = { .process = index, .function = "MPI_Recv" };
	const struct fact_sums sums = { .count = count };

	fact_put_sums(&view->sink, FACT_CALLS, &fact, &sums);
}

static void transfers(struct view *view, int from, int to, bool fetches, uint64_t bytes)
{
	const struct fact_transfer fact = {
		.process = from,
		.peer = to,
		.op = fetches ? "get_zcopy" : "am_bcopy",
		.transport = "rc_mlx5",
		.device = "mlx5_0:1",
		.kind = KIND_DATA,
		.fetches = fetches,
	};
	const struct fact_sums sums = { .count = 1, .bytes = bytes };

	fact_put_sums(&view->sink, FACT_TRANSFERS, &fact, &sums);
}

/* A look at its first thread, in this function; NULL: outside of MPI. */
static void look(struct view *view, int index, uint32_t pid, const char *function)
{
	const struct fact_thread fact = {
		.process = index,
		.tid = pid,
		.state = "running",
		.function = function,
		.outside = !function,
		.at = view->now - SECOND / 10,
	};

	fact_put(&view->sink, FACT_THREAD, &fact);
}

static const struct live_process *process_at(const struct view *view, size_t i)
{
	struct live_process *const *all;

	assert_true(live_processes(view->live, &all) > i);
	return all[i];
}

static const struct live_thread *thread_at(const struct view *view, size_t i)
{
	const struct live_thread *all;

	assert_true(live_threads(view->live, &all) > i);
	return &all[i];
}

static void two(struct view *view)
{
	process(view, 0, 7, 0);
	process(view, 1, 8, 1);
}

static void test_sums_of_intervals(void **state)
{
	struct view view = view_new();
	const struct live_path *paths;

	(void)state;
	for (uint64_t i = 1; i <= 3; i++) {
		begin(&view, 2 * SECOND, 2 * SECOND);
		two(&view);
		transfers(&view, 0, 1, false, 1000 * i);
		transfers(&view, 0, 1, true, 50);
		end(&view);
		assert_int_equal(process_at(&view, 0)->out.now.bytes, 1000 * i);
		assert_int_equal(process_at(&view, 1)->in.now.bytes, 1000 * i);
		/* fetched data leaves the peer */
		assert_int_equal(process_at(&view, 0)->in.now.bytes, 50);
		assert_int_equal(process_at(&view, 1)->out.now.bytes, 50);
		assert_true(process_at(&view, 0)->whole);
	}
	assert_int_equal(process_at(&view, 0)->out.total.bytes, 6000);
	assert_int_equal(live_paths(view.live, &paths), 2);
	assert_int_equal(paths[0].amount.total.count, 3);
	assert_true(live_rate(live_tracer(view.live), 3000) == 1500);
	live_free(view.live);
}

/* A put of one's own and data that is sent for the peer's get are two paths. */
static void test_initiators_are_apart(void **state)
{
	static const char *const initiators[] = { "origin", "target", NULL };
	const struct fact_sums sums = { .count = 1, .bytes = 8 };
	struct view view = view_new();
	const struct live_path *paths;

	(void)state;
	begin(&view, SECOND, SECOND);
	two(&view);
	for (int i = 0; i < 6; i++) {
		const struct fact_transfer fact = {
			.peer = 1,
			.op = "am_bcopy",
			.data_path = "emulated",
			.initiator = initiators[i % 3],
		};

		fact_put_sums(&view.sink, FACT_TRANSFERS, &fact, &sums);
	}
	end(&view);
	assert_int_equal(live_paths(view.live, &paths), 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(paths[i].amount.now.bytes, 16);
	assert_string_equal(paths[1].initiator, "target");
	assert_null(paths[2].initiator);
	live_free(view.live);
}

static void test_rates_are_of_watched_time(void **state)
{
	struct view view = view_new();

	(void)state;
	begin(&view, SECOND, SECOND / 4);
	end(&view);
	assert_true(live_rate(live_tracer(view.live), 1000) == 4000);
	assert_true(live_rates_least(live_tracer(view.live)));
	begin(&view, SECOND, 0);
	end(&view);
	assert_true(isnan(live_rate(live_tracer(view.live), 1000)));
	begin(&view, SECOND, SECOND);
	end(&view);
	assert_false(live_rates_least(live_tracer(view.live)));
	live_free(view.live);
}

/* A peer that is not known, or a rank that is not traced: more may have come. */
static void test_lower_bounds(void **state)
{
	struct view view = view_new();

	(void)state;
	begin(&view, SECOND, SECOND);
	process(&view, 0, 7, 0);
	end(&view);
	assert_false(process_at(&view, 0)->whole);
	begin(&view, SECOND, SECOND);
	two(&view);
	transfers(&view, 1, -1, false, 10);
	end(&view);
	assert_false(process_at(&view, 0)->whole);
	live_free(view.live);
}

static void test_age_of_a_call(void **state)
{
	struct view view = view_new();
	uint64_t first;

	(void)state;
	begin(&view, SECOND, SECOND);
	two(&view);
	calls(&view, 0, 5);
	look(&view, 0, 7, "MPI_Recv");
	look(&view, 1, 8, NULL);
	end(&view);
	first = thread_at(&view, 0)->since;
	assert_int_equal(first, view.now - SECOND / 10);
	assert_int_equal(thread_at(&view, 1)->since, 0);

	/* no call has begun since */
	for (int i = 0; i < 3; i++) {
		begin(&view, SECOND, SECOND);
		two(&view);
		look(&view, 0, 7, "MPI_Recv");
		end(&view);
		assert_int_equal(thread_at(&view, 0)->since, first);
	}
	assert_int_equal(live_age(thread_at(&view, 0)), 3 * SECOND);

	/* one has: it may be this one */
	begin(&view, SECOND, SECOND);
	two(&view);
	calls(&view, 0, 1);
	look(&view, 0, 7, "MPI_Recv");
	end(&view);
	assert_int_equal(thread_at(&view, 0)->since, view.now - SECOND / 10);
	assert_int_equal(live_age(thread_at(&view, 0)), 0);

	/* likewise if nobody has watched */
	begin(&view, SECOND, SECOND / 2);
	two(&view);
	look(&view, 0, 7, "MPI_Recv");
	end(&view);
	assert_int_equal(thread_at(&view, 0)->since, view.now - SECOND / 10);

	assert_int_equal(live_looks(process_at(&view, 0)->looks), 6);
	assert_int_equal(live_looks(process_at(&view, 0)->in_mpi), 6);
	assert_int_equal(live_looks(process_at(&view, 1)->in_mpi), 0);
	live_free(view.live);
}

/* The file keeps a process for ever; the view shows its end once. */
static void test_ended_processes_go(void **state)
{
	struct view view = view_new();
	struct live_process *const *all;
	const struct live_path *paths;
	uint64_t second;

	(void)state;
	for (int i = 0; i < 3; i++) {
		begin(&view, SECOND, SECOND);
		two(&view);
		if (!i)
			transfers(&view, 0, 1, false, 10);
		fact_put(&view.sink, FACT_LIFETIME,
			 &(struct fact_lifetime){ .process = 0, .exited = true });
		end(&view);
		assert_int_equal(live_processes(view.live, &all), i ? 1 : 2);
		assert_int_equal(live_paths(view.live, &paths), i ? 0 : 1);
	}
	second = all[0]->id;
	/* its pid is another process's now */
	begin(&view, SECOND, SECOND);
	two(&view);
	fact_put(&view.sink, FACT_PROCESS,
		 &(struct fact_process){ .index = 2,
					 .host_name = "a",
					 .tgid = 7,
					 .start_time = 99,
					 .undescribed = true });
	end(&view);
	assert_int_equal(live_processes(view.live, &all), 2);
	assert_int_equal(all[0]->id, second);
	assert_null(all[0]->mpi);
	assert_string_equal(all[1]->mpi, "unknown");
	assert_true(all[1]->id > second);
	live_free(view.live);
}

/* The file still has the ended ones when something comes after intervals without anything. */
static void test_ended_processes_stay_away(void **state)
{
	struct view view = view_new();
	struct live_process *const *all;

	(void)state;
	for (int i = 0; i < 4; i++) {
		begin(&view, SECOND, SECOND);
		if (i == 1 || i == 2) {
			live_end(view.live, NULL);
			assert_int_equal(live_processes(view.live, &all), 0);
			continue;
		}
		process(&view, 0, 7, 0);
		fact_put(&view.sink, FACT_LIFETIME,
			 &(struct fact_lifetime){ .process = 0, .exited = true });
		if (i)
			process(&view, 1, 8, 1);
		end(&view);
		assert_int_equal(live_processes(view.live, &all), 1);
		assert_int_equal(all[0]->tgid, i ? 8 : 7);
	}
	live_free(view.live);
}

/* The file has no more of it: it ended, nobody knows how. */
static void test_missing_processes_end(void **state)
{
	struct view view = view_new();
	struct live_process *const *all;

	(void)state;
	begin(&view, SECOND, SECOND);
	two(&view);
	end(&view);
	for (int i = 0; i < 3; i++) {
		begin(&view, SECOND, SECOND);
		process(&view, 0, 8, 1);
		end(&view);
		assert_int_equal(live_processes(view.live, &all), i ? 1 : 2);
		assert_int_equal(all[0]->ended, !i);
		assert_int_equal(all[i ? 0 : 1]->tgid, 8);
	}
	/* trimmed away, and forgotten: the same numbers are another process */
	begin(&view, SECOND, SECOND);
	two(&view);
	end(&view);
	assert_int_equal(live_processes(view.live, &all), 2);
	live_free(view.live);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums_of_intervals),
		cmocka_unit_test(test_initiators_are_apart),
		cmocka_unit_test(test_rates_are_of_watched_time),
		cmocka_unit_test(test_lower_bounds),
		cmocka_unit_test(test_age_of_a_call),
		cmocka_unit_test(test_ended_processes_go),
		cmocka_unit_test(test_ended_processes_stay_away),
		cmocka_unit_test(test_missing_processes_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
