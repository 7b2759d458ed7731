// SPDX-License-Identifier: BSD-3-Clause
/* Who is behind: of four ranks that wait for each other in various ways. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "explain/hang/hang.h"
#include "show/report/internal.h"
#include "show/report/report.h"

#define RANKS 4
#define SECOND 1000000000ull

static const char barrier[] = "MPI_Barrier", recv[] = "MPI_Recv", receives[] = "tag_recv";
static const char world[] = "MPI_COMM_WORLD", another[] = "another";
static const char asleep[] = "sleeping", running[] = "running", halted[] = "stopped";

static int ranks = RANKS;

struct bed {
	struct report *report;
	struct fact_sink sink;
};

/* traced: how many of the ranks are */
static void add_process(struct bed *bed, int index, int rank, uint64_t start)
{
	fact_put(&bed->sink, FACT_PROCESS,
		 &(struct fact_process){ .index = index,
					 .host_id = "boot",
					 .host_name = "node",
					 .pid = 100 + (uint32_t)index,
					 .start_time = start,
					 .mpi = "Open MPI 4.1.4",
					 .rank = rank,
					 .size = ranks });
}

static void setup(struct bed *bed, int traced)
{
	*bed = (struct bed){ .report = report_new(NULL) };
	bed->sink = report_sink(bed->report);
	for (int i = 0; i < traced; i++)
		add_process(bed, i, i, SECOND);
}

static void look(struct bed *bed, int rank, const char *state, const char *function)
{
	fact_put(&bed->sink, FACT_THREAD,
		 &(struct fact_thread){ .process = rank,
					.tid = 100 + (uint32_t)rank,
					.state = state,
					.function = function,
					.outside = !function,
					.at = 9 * SECOND });
}

static bool own = true; /* calls wait for an operation of their own */

/* peer: a rank, traced or not; -1: not known */
static void wait_as(struct bed *bed, const char *state, int rank, const char *function,
		    const char *comm, int peer, int traced)
{
	look(bed, rank, state, function);
	fact_put(&bed->sink, FACT_OPEN,
		 &(struct fact_open){ .process = rank,
				      .function = function,
				      .tid = 100 + (uint32_t)rank,
				      .op = receives,
				      .peer = peer < traced ? peer : -1,
				      .peer_rank = peer,
				      .peer_certain = own,
				      .tag = -1,
				      .comm = comm,
				      .since = 7 * SECOND,
				      .until = 9 * SECOND,
				      .bound = true,
				      .certain = true });
}

static void wait_in(struct bed *bed, int rank, const char *function, const char *comm, int peer,
		    int traced)
{
	wait_as(bed, running, rank, function, comm, peer, traced);
}

/* lines: what comes before the tables. */
static void expect(struct bed *bed, const char *lines)
{
	struct report_text_options options = { .width = 200 };
	struct fact_totals totals = { 0 };
	char *printed, *end;
	size_t size;
	FILE *out = open_memstream(&printed, &size);

	report_finish(bed->report, &totals);
	assert_int_equal(report_pending_text(bed->report, &options, out), 0);
	fclose(out);
	end = strstr(printed, "\n\n");
	assert_non_null(end);
	*end = '\0';
	assert_string_equal(printed, lines);
	free(printed);
	report_free(bed->report);
}

static void test_chain(void **state)
{
	struct bed bed;

	(void)state;
	setup(&bed, RANKS);
	wait_in(&bed, 0, recv, world, 1, RANKS);
	wait_in(&bed, 1, recv, world, 2, RANKS);
	wait_in(&bed, 2, recv, world, 3, RANKS);
	look(&bed, 3, asleep, NULL);
	expect(&bed, "rank 3 is behind: it is sleeping, outside of MPI; 3 ranks wait for it");
}

static void test_circle(void **state)
{
	struct bed bed;

	(void)state;
	setup(&bed, RANKS);
	wait_in(&bed, 0, recv, world, 1, RANKS);
	wait_in(&bed, 1, recv, world, 2, RANKS);
	wait_in(&bed, 2, recv, world, 1, RANKS);
	look(&bed, 3, asleep, NULL);
	expect(&bed, "rank 1 and rank 2 wait for each other; 1 rank waits for them");
}

/* A call need not wait for the operation that is queued. */
static void test_perhaps(void **state)
{
	struct bed bed;

	(void)state;
	own = false;
	setup(&bed, RANKS);
	wait_in(&bed, 0, recv, world, 1, RANKS);
	look(&bed, 1, asleep, NULL);
	expect(&bed,
	       "rank 1 is perhaps behind: it is sleeping, outside of MPI; 1 rank waits for it");
	setup(&bed, RANKS);
	wait_in(&bed, 0, recv, world, 1, RANKS);
	own = true;
	wait_in(&bed, 1, recv, world, 0, RANKS);
	expect(&bed, "rank 0 and rank 1 perhaps wait for each other");
	/* another one waits for it, for certain */
	setup(&bed, RANKS);
	wait_in(&bed, 0, recv, world, 2, RANKS);
	own = false;
	wait_in(&bed, 1, recv, world, 2, RANKS);
	own = true;
	look(&bed, 2, asleep, NULL);
	expect(&bed, "rank 2 is behind: it is sleeping, outside of MPI; 2 ranks wait for it");
}

/* The table shows how certain a peer is, and lines below it name queues that were not read. */
static void test_table(void **state)
{
	struct report_text_options options = { .width = 200 };
	struct fact_totals totals = { 0 };
	struct bed bed;
	char *printed;
	size_t size;
	FILE *out = open_memstream(&printed, &size);

	(void)state;
	setup(&bed, RANKS);
	wait_in(&bed, 0, recv, world, 1, RANKS);
	own = false;
	wait_in(&bed, 1, recv, world, 2, RANKS);
	own = true;
	fact_put(&bed.sink, FACT_UNREAD,
		 &(struct fact_unread){ .process = 1, .reason = "took too long" });
	fact_put(&bed.sink, FACT_UNREAD, &(struct fact_unread){ .process = 2, .entries = 3 });
	report_finish(bed.report, &totals);
	assert_int_equal(report_pending_text(bed.report, &options, out), 0);
	fclose(out);
	assert_non_null(strstr(printed, "  receive from rank 1 "));
	assert_non_null(strstr(printed, "  receive perhaps from rank 2 "));
	assert_non_null(
		strstr(printed, "rank 1: not all of its queues could be read: took too long\n"));
	assert_non_null(strstr(printed, "rank 2: 3 more entries in its queues\n"));
	free(printed);
	out = open_memstream(&printed, &size);
	assert_int_equal(report_pending_json(bed.report, out), 0);
	fclose(out);
	assert_non_null(strstr(printed, "\"unread\""));
	free(printed);
	report_free(bed.report);
}

/* Half of the ranks wait, each for any of the others: one set of those, not an edge for each pair.
 */
static void test_many(void **state)
{
	static const int counts[] = { 1024, 20000 };
	struct rlimit limit, less;

	(void)state;
	getrlimit(RLIMIT_AS, &limit);
	less = limit;
#ifndef __SANITIZE_ADDRESS__
	less.rlim_cur = 1 << 30;
#endif
	setrlimit(RLIMIT_AS, &less);
	for (size_t k = 0; k < 4; k++) {
		const int count = counts[k % 2], half = count / 2;
		struct fact_totals totals = { 0 };
		hang_rows rows = { 0 };
		struct bed bed;

		ranks = count;
		setup(&bed, count);
		for (int i = 0; i < half; i++)
			wait_in(&bed, i, barrier, k < 2 ? another : world, -1, count);
		for (int i = half; i < count; i++)
			look(&bed, i, asleep, NULL);
		ranks = RANKS;
		report_finish(bed.report, &totals);
		report_behind(bed.report, &rows);
		assert_int_equal(rows.len, count - half);
		for (size_t i = 0; i < rows.len; i++) {
			assert_int_equal(rows.data[i].waiting, half);
			assert_int_equal(rows.data[i].certain, k >= 2);
			assert_int_equal(rows.data[i].processes.data[0], half + (int)i);
			assert_string_equal(rows.data[i].missing, barrier);
		}
		hang_release(&rows);
		report_free(bed.report);
	}
	setrlimit(RLIMIT_AS, &limit);
}

static void test_long_chain(void **state)
{
	const int count = 20000;
	struct fact_totals totals = { 0 };
	hang_rows rows = { 0 };
	struct bed bed;

	(void)state;
	ranks = count;
	setup(&bed, count);
	for (int i = 0; i < count; i++)
		wait_in(&bed, i, recv, world, (i + 1) % count, count);
	ranks = RANKS;
	report_finish(bed.report, &totals);
	report_behind(bed.report, &rows);
	assert_int_equal(rows.len, 1);
	assert_int_equal(rows.data[0].processes.len, count);
	assert_true(rows.data[0].certain);
	hang_release(&rows);
	report_free(bed.report);
}

static void test_two_circles(void **state)
{
	struct bed bed;

	(void)state;
	setup(&bed, RANKS);
	wait_in(&bed, 0, recv, world, 3, RANKS);
	wait_in(&bed, 1, recv, world, 2, RANKS);
	wait_in(&bed, 2, recv, world, 1, RANKS);
	wait_in(&bed, 3, recv, world, 0, RANKS);
	expect(&bed,
	       "rank 0 and rank 3 wait for each other\nrank 1 and rank 2 wait for each other");
}

/* Those of a circle that waits for another one are not where it begins, nor is one between them. */
static void test_circle_behind_circle(void **state)
{
	struct bed bed;

	(void)state;
	setup(&bed, RANKS);
	wait_in(&bed, 0, barrier, world, -1, RANKS);
	wait_in(&bed, 1, recv, world, 0, RANKS);
	wait_in(&bed, 2, recv, world, 3, RANKS);
	wait_in(&bed, 3, recv, world, 2, RANKS);
	expect(&bed, "rank 2 and rank 3 wait for each other; 2 ranks wait for them");
}

static void wait_at(struct bed *bed, int rank, const char *function, uint64_t sequence, int peer)
{
	look(bed, rank, running, function);
	fact_put(&bed->sink, FACT_OPEN,
		 &(struct fact_open){ .process = rank,
				      .function = function,
				      .tid = 100 + (uint32_t)rank,
				      .op = receives,
				      .peer = peer,
				      .peer_rank = peer,
				      .tag = -1,
				      .comm = world,
				      .sequence = sequence,
				      .sequence_by = sequence ? FACT_BY_CALLS : NULL,
				      .since = 7 * SECOND,
				      .until = 9 * SECOND,
				      .certain = true });
}

static void has_entered(struct bed *bed, int rank, uint64_t entered)
{
	fact_put(&bed->sink, FACT_LIFETIME,
		 &(struct fact_lifetime){
			 .process = rank, .until = 9 * SECOND, .entered = entered });
}

static void test_numbers(void **state)
{
	struct bed bed;

	(void)state;
	setup(&bed, RANKS);
	for (int i = 0; i < 3; i++)
		wait_at(&bed, i, barrier, 42, -1);
	look(&bed, 3, asleep, NULL);
	has_entered(&bed, 3, 41);
	expect(&bed,
	       "rank 3 has not entered MPI_Barrier, number 42 of MPI_COMM_WORLD, and is at number 41: it is "
	       "sleeping, outside of MPI; 3 ranks wait for it");
}

/* It may have gone on since. */
static void test_number_of_earlier(void **state)
{
	struct bed bed;

	(void)state;
	setup(&bed, RANKS);
	for (int i = 0; i < 3; i++)
		wait_at(&bed, i, barrier, 100, -1);
	fact_put(&bed.sink, FACT_LIFETIME,
		 &(struct fact_lifetime){ .process = 3, .until = 5 * SECOND, .entered = 41 });
	expect(&bed,
	       "rank 3 has perhaps not entered MPI_Barrier, number 100 of MPI_COMM_WORLD: it is not known "
	       "where; 3 ranks wait for it");
}

/* A rank that was killed enters nothing more. */
static void test_number_of_killed(void **state)
{
	struct bed bed;

	(void)state;
	setup(&bed, RANKS);
	for (int i = 0; i < 3; i++)
		wait_at(&bed, i, barrier, 42, -1);
	fact_put(&bed.sink, FACT_LIFETIME,
		 &(struct fact_lifetime){
			 .process = 3, .until = 5 * SECOND, .exited = true, .entered = 41 });
	expect(&bed,
	       "rank 3 has not entered MPI_Barrier, number 42 of MPI_COMM_WORLD, and is at number 41: it is "
	       "not known where; 3 ranks wait for it");
}

/* Ranks of a run that had ended before wait for nobody, and nobody waits for them. */
static void test_earlier_run(void **state)
{
	struct bed bed;

	(void)state;
	setup(&bed, RANKS);
	for (int i = 0; i < RANKS; i++) {
		add_process(&bed, RANKS + i, i, SECOND / 2);
		fact_put(&bed.sink, FACT_LIFETIME,
			 &(struct fact_lifetime){ .process = RANKS + i,
						  .until = 3 * SECOND / 4,
						  .exited = true,
						  .entered = 5 });
	}
	for (int i = 0; i < 3; i++)
		wait_at(&bed, i, barrier, 42, -1);
	look(&bed, 3, asleep, NULL);
	has_entered(&bed, 3, 41);
	expect(&bed,
	       "rank 3#3 has not entered MPI_Barrier, number 42 of MPI_COMM_WORLD, and is at number 41: it is "
	       "sleeping, outside of MPI; 3 ranks wait for it");
}

/* It is in the same function, which tells nothing, but in an earlier call of it. */
static void test_same_function_before(void **state)
{
	struct bed bed;

	(void)state;
	setup(&bed, RANKS);
	for (int i = 0; i < 3; i++)
		wait_at(&bed, i, "MPI_Bcast", 42, -1);
	wait_at(&bed, 3, "MPI_Bcast", 41, 0);
	expect(&bed,
	       "rank 3 has perhaps not entered MPI_Bcast, number 42 of MPI_COMM_WORLD, and is at number 41: it "
	       "is running, in MPI_Bcast; 3 ranks wait for it");
}

/* Nobody waits for a rank that waits in a later one, whatever its queues have. */
static void test_others_went_on(void **state)
{
	struct bed bed;

	(void)state;
	setup(&bed, RANKS);
	wait_at(&bed, 0, barrier, 42, 3);
	wait_at(&bed, 1, barrier, 42, -1);
	wait_at(&bed, 2, barrier, 42, -1);
	wait_at(&bed, 3, "MPI_Reduce", 41, 0);
	expect(&bed,
	       "rank 3 has not entered MPI_Barrier, number 42 of MPI_COMM_WORLD, and is at number 41: it is "
	       "running, in MPI_Reduce; 3 ranks wait for it");
}

/* Then a rank that does not go on is within it. */
static void test_entered_by_all(void **state)
{
	struct bed bed;

	(void)state;
	setup(&bed, RANKS);
	for (int i = 0; i < 3; i++)
		wait_at(&bed, i, barrier, 42, i < 2 ? 3 : -1);
	look(&bed, 3, halted, barrier);
	has_entered(&bed, 3, 42);
	expect(&bed,
	       "rank 3 is perhaps behind: it is stopped, in MPI_Barrier; 3 ranks wait for it");
}

/* Where a rank has no number, functions tell. */
static void test_numbers_of_some(void **state)
{
	struct bed bed;

	(void)state;
	setup(&bed, RANKS);
	for (int i = 0; i < 3; i++)
		wait_at(&bed, i, barrier, 42, -1);
	wait_in(&bed, 3, barrier, world, -1, RANKS);
	expect(&bed, "Who is behind is not known.");
}

/* It is not known which rank is in error. */
static void test_another_collective(void **state)
{
	static const uint64_t numbers[] = { 0, 42 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct bed bed;

		setup(&bed, RANKS);
		for (int rank = 0; rank < 3; rank++)
			wait_at(&bed, rank, barrier, numbers[i], -1);
		wait_at(&bed, 3, "MPI_Allreduce", numbers[i], -1);
		expect(&bed,
		       "rank 0, rank 1, rank 2 and rank 3 wait for each other: rank 3 is in MPI_Allreduce, 3 "
		       "others in MPI_Barrier");
	}
}

/* One that has sent its part may have left. */
static void test_reduce(void **state)
{
	struct bed bed;

	(void)state;
	setup(&bed, RANKS);
	wait_in(&bed, 0, "MPI_Reduce", world, -1, RANKS);
	wait_in(&bed, 1, "MPI_Reduce", world, -1, RANKS);
	wait_in(&bed, 2, "MPI_Reduce", world, -1, RANKS);
	look(&bed, 3, asleep, NULL);
	expect(&bed,
	       "rank 3 has perhaps not entered MPI_Reduce: it is sleeping, outside of MPI; 3 ranks wait for it");
}

/* One that is stopped would not go on if the others did. */
static void test_stopped_in_circle(void **state)
{
	struct bed bed;

	(void)state;
	setup(&bed, RANKS);
	wait_in(&bed, 0, recv, world, 1, RANKS);
	wait_as(&bed, halted, 1, recv, world, 0, RANKS);
	look(&bed, 2, asleep, NULL);
	look(&bed, 3, asleep, NULL);
	expect(&bed, "rank 1 is behind: it is stopped, in MPI_Recv; 1 rank waits for it");
}

static void test_missing(void **state)
{
	struct bed bed;

	(void)state;
	setup(&bed, RANKS);
	wait_in(&bed, 0, barrier, world, -1, RANKS);
	wait_in(&bed, 1, barrier, world, 0, RANKS);
	look(&bed, 2, running, NULL);
	wait_in(&bed, 3, recv, world, 2, RANKS);
	expect(&bed,
	       "rank 2 has not entered MPI_Barrier: it is running, outside of MPI; 3 ranks wait for it");
}

/* A rank that waits for one inside of the collective: nobody is behind. */
static void test_collective_and_receive(void **state)
{
	struct bed bed;

	(void)state;
	setup(&bed, RANKS);
	for (int i = 0; i < 3; i++)
		wait_in(&bed, i, barrier, world, -1, RANKS);
	wait_in(&bed, 3, recv, world, 0, RANKS);
	expect(&bed, "rank 0 and rank 3 wait for each other; 2 ranks wait for them");
}

static void test_untraced(void **state)
{
	struct bed bed;

	(void)state;
	setup(&bed, 2);
	wait_in(&bed, 0, recv, world, 3, 2);
	wait_in(&bed, 1, recv, world, 0, 2);
	expect(&bed, "rank 3 is behind: it is not traced here; 2 ranks wait for it");
}

/* All that are traced have entered it. */
static void test_collective_untraced(void **state)
{
	struct bed bed;

	(void)state;
	setup(&bed, 3);
	for (int i = 0; i < 3; i++)
		wait_in(&bed, i, barrier, world, -1, 3);
	expect(&bed, "rank 3 is perhaps behind: it is not traced here; 3 ranks wait for it");
}

static void test_unknown_ranks(void **state)
{
	struct bed bed;

	(void)state;
	setup(&bed, RANKS);
	for (int i = 0; i < 3; i++)
		wait_in(&bed, i, barrier, another, -1, RANKS);
	look(&bed, 3, asleep, NULL);
	expect(&bed,
	       "rank 3 has perhaps not entered MPI_Barrier: it is sleeping, outside of MPI; 3 ranks "
	       "wait for it");
}

static void test_nobody_known(void **state)
{
	struct bed bed;

	(void)state;
	setup(&bed, RANKS);
	for (int i = 0; i < RANKS; i++)
		wait_in(&bed, i, barrier, another, -1, RANKS);
	expect(&bed, "Who is behind is not known.");
}

static void test_nothing_open(void **state)
{
	struct bed bed;

	(void)state;
	setup(&bed, RANKS);
	for (int i = 0; i < RANKS; i++)
		look(&bed, i, running, NULL);
	expect(&bed, "No MPI call stays open.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_circle),
		cmocka_unit_test(test_perhaps),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_long_chain),
		cmocka_unit_test(test_circle_behind_circle),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_number_of_earlier),
		cmocka_unit_test(test_number_of_killed),
		cmocka_unit_test(test_earlier_run),
		cmocka_unit_test(test_same_function_before),
		cmocka_unit_test(test_others_went_on),
		cmocka_unit_test(test_entered_by_all),
		cmocka_unit_test(test_numbers_of_some),
		cmocka_unit_test(test_another_collective),
		cmocka_unit_test(test_reduce),
		cmocka_unit_test(test_two_circles),
		cmocka_unit_test(test_stopped_in_circle),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_collective_and_receive),
		cmocka_unit_test(test_untraced),
		cmocka_unit_test(test_collective_untraced),
		cmocka_unit_test(test_unknown_ranks),
		cmocka_unit_test(test_nobody_known),
		cmocka_unit_test(test_nothing_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
