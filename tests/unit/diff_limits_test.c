// SPDX-License-Identifier: BSD-3-Clause
/* Runs whose captures lack something: no difference is named that may not be one. */
#include "diff_runs.h"

static void damaged_captures_have_no_counts(void **state)
{
	struct made damaged = usual;
	struct diff *diff;

	(void)state;
	damaged.totals.partial = 1;
	damaged.sends = 7;
	damaged.rare = 1;
	diff = compared(&usual, 1, &damaged, 1);
	assert_true(has_note(diff, "the run after is damaged, cut short or lacks records: counts"));
	assert_rows(diff, DIFF_CHANGED, "");
	assert_true(diff->outcome.incomplete);
	diff_free(diff);
	/* its own paths are certain, missing ones are not */
	damaged.transport = "xpmem";
	assert_changed(&usual, 1, &damaged, 1,
		       "paths: xpmem/memory get_zcopy node: - > 100, 6,553,600 B\n");
}

static void a_run_that_was_killed(void **state)
{
	struct made killed = usual;
	struct diff *diff;

	(void)state;
	killed.signal = 15;
	killed.sends = 7;
	killed.transport = NULL;
	diff = compared(&usual, 1, &killed, 1);
	assert_rows(diff, DIFF_CHANGED, "system: ended by signals: no process > some processes\n");
	assert_true(has_note(diff, "the run after was ended by a signal: counts"));
	diff_free(diff);
	assert_changed(&killed, 1, &killed, 1, "");
}

static void a_run_that_was_joined(void **state)
{
	struct made attached = usual;
	struct diff *diff;

	(void)state;
	attached.attached = true;
	attached.sends = 7;
	attached.rare = 1;
	diff = compared(&attached, 1, &usual, 1);
	assert_true(has_note(diff, "the run before was joined in mid-run: counts"));
	assert_rows(diff, DIFF_CHANGED, "");
	assert_rows(diff, DIFF_UNCOMPARED,
		    "paths: knem/memory get_zcopy node: 1, 1,024 B > -\n"
		    "calls: MPI_Send: 17 > 110\n"
		    "transfer_times: knem get_zcopy node 1.00 KiB to 2.00 KiB: 100 ns > -\n");
	assert_false(diff->outcome.incomplete);
	diff_free(diff);
	/* a path that carried most of the data is missed */
	attached.transport = "xpmem";
	assert_changed(&attached, 1, &usual, 1,
		       "paths: cma/memory get_zcopy node: - > 100, 6,553,600 B\n"
		       "paths: xpmem/memory get_zcopy node: 100, 6,553,600 B > -\n");
}

static void lost_records_have_no_protocols(void **state)
{
	struct made lossy = usual;
	struct diff *diff;

	(void)state;
	lossy.totals.lost = 3;
	lossy.rndv = "rndv/put";
	lossy.sends++;
	diff = compared(&lossy, 1, &lossy, 1);
	assert_true(has_note(diff, "each run has lost records: protocols"));
	assert_true(diff->outcome.incomplete);
	assert_int_equal(diff->outcome.differences, 0);
	diff_free(diff);
	assert_changed(&usual, 1, &lossy, 1, "calls: MPI_Send: 110 > 111\n");
}

static void derived_calls_are_not_all(void **state)
{
	struct made derived = usual;

	(void)state;
	derived.totals.derived_count = 1;
	derived.totals.derived[0] = (struct fact_derived){ .function = "MPI_Send", .calls = 3 };
	derived.sends++;
	assert_verdicts(&usual, 1, &derived, 1, "", DIFF_UNCOMPARED,
			"calls: MPI_Send: 110 > 111\n");
	derived.totals.derived[0].calls = 0; /* its probe was never away */
	assert_changed(&usual, 1, &derived, 1, "calls: MPI_Send: 110 > 111\n");
}

static void other_levels(void **state)
{
	struct made mpi = usual;
	struct diff *diff;

	(void)state;
	mpi.level = LEVEL_MPI;
	mpi.transport = NULL;
	mpi.rndv = "rndv/put";
	diff = compared(&usual, 1, &mpi, 1);
	assert_true(has_note(diff, "some runs were recorded at level mpi: "));
	assert_int_equal(diff->outcome.differences, 0);
	for (size_t i = 0; i < diff->rows.len; i++)
		assert_int_equal(diff->rows.data[i].table->level, LEVEL_MPI);
	diff_free(diff);
	mpi.in_part = true;
	diff = compared(&mpi, 1, &mpi, 1);
	assert_true(has_note(diff, "all runs were recorded at level mpi for a part of the time"));
	diff_free(diff);
}

static void sums_have_no_protocols(void **state)
{
	struct made counted = usual;
	struct diff *diff;

	(void)state;
	counted.count_only = true;
	counted.rndv = "rndv/put";
	diff = compared(&usual, 1, &counted, 1);
	assert_true(has_note(diff, "the run after was made with --count: protocols"));
	assert_int_equal(diff->outcome.differences, 0);
	diff_free(diff);
}

static void callers_outside_mpi(void **state)
{
	struct made before = usual, after = usual;
	struct diff *diff;

	(void)state;
	before.library = "ucxx";
	before.role = "ucxx";
	after.role = "other";
	assert_changed(&before, 1, &after, 1,
		       "callers: caller libcaller-1.2.so request put: - > 7, 70 B\n"
		       "callers: caller ucxx request put: 7, 70 B > -\n");
	/* calls of MPI that were not seen */
	after = before;
	before.role = after.role = "mpi_plugin";
	diff = compared(&before, 1, &after, 1);
	for (size_t i = 0; i < diff->rows.len; i++)
		assert_ptr_not_equal(diff->rows.data[i].table, &diff_tables[TABLE_CALLERS]);
	assert_false(has_note(diff, "callers"));
	diff_free(diff);
	/* one whose caller is not known could be anyone's */
	before.role = after.role = "ucxx";
	before.received = after.received = 8;
	after.library = "UCX-Py";
	diff = compared(&before, 1, &after, 1);
	assert_rows(diff, DIFF_CHANGED, "");
	assert_true(has_note(diff, "callers of UCP are not compared"));
	diff_free(diff);
}

/* Sums have no statuses, so that they have no failure does not show that no operation failed. */
static void failed_operations_need_detail(void **state)
{
	struct made before = usual, after = usual;
	struct diff *diff;

	(void)state;
	before.failed = 7;
	assert_changed(&before, 1, &after, 1,
		       "operations: tag_recv: 7 > -\nfailed: failed tag_recv status -21: 7 > -\n");
	for (int how = 0; how < 3; how++) {
		after = before;
		after.failed = 0;
		after.count_only = how == 0;
		after.totals.lost = how == 1;
		after.totals.thinned = how == 2;
		diff = compared(&before, 1, &after, 1);
		assert_rows(diff, DIFF_CHANGED, "operations: tag_recv: 7 > -\n");
		assert_rows(diff, DIFF_UNCOMPARED, "failed: failed tag_recv status -21: 7 > -\n");
		assert_true(has_note(diff, "failed operations"));
		diff_free(diff);
	}
}

/* A receive of unknown bytes on each side: what the others received may differ or not. */
static void unknown_bytes_are_not_compared(void **state)
{
	struct made before = usual, after = usual;
	struct diff *diff;
	char *line;

	(void)state;
	before.received = 8;
	after.received = 4096;
	diff = compared(&before, 1, &after, 1);
	assert_rows(diff, DIFF_CHANGED, "operations: tag_recv: 1, 8 B > 1, 4,096 B\n");
	assert_false(has_note(diff, "bytes of"));
	diff_free(diff);
	before.unsized = after.unsized = true;
	diff = compared(&before, 1, &after, 1);
	assert_rows(diff, DIFF_CHANGED, "");
	assert_rows(diff, DIFF_UNCOMPARED, "operations: tag_recv: 2, ? bytes > 2, ? bytes\n");
	assert_true(has_note(diff, "bytes of 1 row are not known in full"));
	line = diff_verdict(diff);
	assert_non_null(strstr(line, ", counts and a part of the bytes, times"));
	free(line);
	diff_free(diff);
	/* the count still is */
	after.failed = 1;
	assert_int_equal(changed_in(&before, 1, &after, 1, DIFF_COUNTS), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged_captures_have_no_counts),
		cmocka_unit_test(a_run_that_was_killed),
		cmocka_unit_test(a_run_that_was_joined),
		cmocka_unit_test(lost_records_have_no_protocols),
		cmocka_unit_test(derived_calls_are_not_all),
		cmocka_unit_test(other_levels),
		cmocka_unit_test(sums_have_no_protocols),
		cmocka_unit_test(callers_outside_mpi),
		cmocka_unit_test(failed_operations_need_detail),
		cmocka_unit_test(unknown_bytes_are_not_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
