// SPDX-License-Identifier: BSD-3-Clause
/* Made-up runs against each other: what differs is named, and nothing else. */
#include "diff_runs.h"

#define CHANGED(expected, ...)                                                                     \
	do {                                                                                       \
		struct made made_ = usual;                                                         \
                                                                                                   \
		__VA_ARGS__;                                                                       \
		assert_changed(&usual, 1, &made_, 1, expected);                                    \
	} while (0)

/* ---- one run a side ---- */

static void the_same_run_does_not_differ(void **state)
{
	(void)state;
	CHANGED("", (void)made_);
}

static void another_job_does_not_differ(void **state)
{
	struct made before = usual, after = usual;

	(void)state;
	CHANGED("", made_.job = "4712"; made_.log = "/tmp/4712/ucx.log");
	before.log = "/tmp/4711/ucx-4711-47114711.log";
	after.job = "4712";
	after.log = "/tmp/4712/ucx-4712-47124712.log";
	assert_changed(&before, 1, &after, 1, "");
	CHANGED("variables: UCX_LOG_FILE (ranks 0-3): /tmp/(job)/ucx.log > /var/4712\n",
		made_.log = "/var/4712");
}

static void variables_by_rank(void **state)
{
	(void)state;
	CHANGED("variables: UCX_TLS (ranks 1-2): posix,cma > tcp\n"
		"variables: UCX_TLS (rank 3): posix,cma > (not set)\n",
		made_.tls[1] = made_.tls[2] = "tcp";
		made_.tls[3] = NULL);
}

static void hosts_and_libraries(void **state)
{
	(void)state;
	CHANGED("system: host name (host 1): n1 > n7\n", made_.host = "n7");
	CHANGED("system: kernel (host 1): 6.1 > 6.18\n", made_.kernel = "6.18");
	CHANGED("libraries: ucp path (ranks 0-1): /usr/lib/libucp.so.0 > /opt/libucp.so.0\n",
		made_.libucp = "/opt/libucp.so.0");
}

static void mpi_is_not_known(void **state)
{
	struct made none = usual;
	struct diff *diff;
	char *line;

	(void)state;
	CHANGED("system: MPI (rank 2): Open MPI 4.1.4 > unknown\n", made_.undescribed = 1 << 2);
	none.undescribed = (1 << RANKS) - 1;
	diff = compared(&usual, 1, &none, 1);
	line = diff_run_line(&diff->runs.data[1]);
	assert_non_null(strstr(line, ", MPI unknown, UCX 1.18.0"));
	free(line);
	diff_free(diff);
}

static void counts_are_exact(void **state)
{
	struct made polled = usual;

	(void)state;
	CHANGED("calls: MPI_Send: 110 > 111\n", made_.sends++);
	polled.tests = 40;
	assert_verdicts(&usual, 1, &polled, 1, "", DIFF_VARIES, "calls: MPI_Test: 17 > 40\n");
}

static void paths_come_and_go(void **state)
{
	(void)state;
	CHANGED("paths: cma/memory get_zcopy node: 100, 6,553,600 B > -\n"
		"paths: xpmem/memory get_zcopy node: - > 100, 6,553,600 B\n",
		made_.transport = "xpmem");
}

static void algorithms_of_collectives(void **state)
{
	struct made before = usual, after;

	(void)state;
	before.algorithm = "recursive doubling";
	before.reduced = 64;
	before.known = 20;
	before.doubtful = "linear or chain fit";
	after = before;
	assert_changed(&before, 1, &after, 1, "");

	after.algorithm = "ring";
	after.reduced = 48;
	after.doubtful = "linear or ring fit";
	assert_changed(&before, 1, &after, 1,
		       "collectives: algorithm MPI_Allreduce 4 ranks 32 B to 64 B ring: - > 20\n"
		       "collectives: algorithm MPI_Allreduce 4 ranks 64 B to 128 B "
		       "recursive doubling: 20 > -\n"
		       "collectives: algorithm MPI_Allreduce 4 ranks 32 B to 64 B "
		       "linear or ring fit: - > 7\n"
		       "collectives: algorithm MPI_Allreduce 4 ranks 64 B to 128 B "
		       "linear or chain fit: 7 > -\n");

	/* the algorithm of some operations is known in one run alone: they may have had this one */
	after = before;
	after.known = 18;
	after.unknown = 2;
	assert_verdicts(&before, 1, &after, 1, "", DIFF_VARIES,
			"collectives: algorithm MPI_Allreduce 4 ranks 64 B to 128 B "
			"recursive doubling: 20 > 18\n"
			"collectives: algorithm MPI_Allreduce unknown: - > 2\n");
	after.known = 17; /* but one not */
	assert_changed(&before, 1, &after, 1,
		       "collectives: algorithm MPI_Allreduce 4 ranks 64 B to 128 B "
		       "recursive doubling: 20 > 17\n");

	after.algorithm = "ring"; /* in mid-run, others may have been before */
	after.attached = true;
	assert_changed(&before, 1, &after, 1, "");
}

static void a_switch_point_moves(void **state)
{
	(void)state;
	CHANGED("protocols: protocol tag_send remote rndv/get: 280, 83,230,720 B > 200, "
		"81,264,640 B\n"
		"protocols: protocol tag_send remote eager/bcopy: 160, 614,400 B > 240, "
		"2,580,480 B\n"
		"switch_points: tag_send remote to rndv/get: above 8,192 B, at "
		"most 16,384 B > above 32,768 B, at most 65,536 B\n",
		made_.rndv_from = 65536);
}

static void functions_have_switch_points_of_their_own(void **state)
{
	struct made before = usual, after = usual;
	struct diff *diff;

	(void)state;
	before.isend_rndv_from = after.isend_rndv_from = 2048;
	diff = compared(&before, 1, &after, 1);
	assert_int_equal(diff->outcome.differences, 0);
	diff_free(diff);
	after.isend_rndv_from = 4096;
	diff = compared(&before, 1, &after, 1);
	assert_int_equal(diff->changed[DIFF_SWITCHES], 1);
	for (size_t i = 0; i < diff->rows.len; i++)
		if (diff->rows.data[i].table == &diff_tables[TABLE_SWITCHES] &&
		    diff->rows.data[i].verdict == DIFF_CHANGED)
			assert_string_equal(diff->rows.data[i].keys[3], "MPI_Isend");
	diff_free(diff);
}

/* Sizes that only one side has leave room for the same switch point. */
static void other_sizes_of_the_same_switch_point(void **state)
{
	struct made before = usual, after = usual;

	(void)state;
	after.size_shift = 100;
	assert_int_equal(changed_in(&before, 1, &after, 1, DIFF_SWITCHES), 0);
	/* 4,196 is a rendezvous now, 8,192 was none */
	after.rndv_from = 4096;
	assert_int_equal(changed_in(&before, 1, &after, 1, DIFF_SWITCHES), 1);
}

static void protocols_of_other_names(void **state)
{
	(void)state;
	CHANGED("protocols: protocol tag_send remote rndv/get: 280, 83,230,720 B > -\n"
		"protocols: protocol tag_send remote rndv/put: - > 280, 83,230,720 B\n"
		"switch_points: tag_send remote 16,384-1,048,576 B: rndv/get > rndv/put\n",
		made_.rndv = "rndv/put");
}

static void times_of_one_run(void **state)
{
	struct made slow = usual;
	struct diff *diff;

	(void)state;
	CHANGED("transfer_times: cma get_zcopy node 64.0 KiB to 128 KiB: 999 ns > 5,055 ns\n",
		made_.transfer_ns = 5100);
	slow.op_ns = 200000;
	slow.transfer_ns = 3000;
	diff = compared(&usual, 1, &slow, 1);
	assert_rows(diff, DIFF_CHANGED, "");
	assert_int_equal(diff->outcome.differences, 0);
	diff_free(diff);
}

/* ---- several ---- */

#define RUNS 8

static void sets(struct made before[RUNS], struct made after[RUNS])
{
	for (int i = 0; i < RUNS; i++)
		before[i] = after[i] = usual;
}

static void times_of_several_runs(void **state)
{
	struct made before[RUNS], after[RUNS];
	struct diff *diff;

	(void)state;
	sets(before, after);
	for (int i = 0; i < RUNS; i++) {
		before[i].op_ns = 2000 + 100 * i; /* up to 2,700 */
		after[i].op_ns = 2900 + 100 * i;
		before[i].transfer_ns = 1000 + 200 * i; /* up to 2,400 */
		after[i].transfer_ns = 2200 + 200 * i;
	}
	diff = compared(before, 8, after, 8);
	assert_int_equal(diff->outcome.differences, 11); /* a row for each size */
	assert_int_equal(diff->changed[DIFF_TIMES], 11);
	diff_free(diff);
	/* 400 of spread on each side, and the medians 900 apart */
	assert_int_equal(changed_in(before, 5, after, 5, DIFF_TIMES), 11);
	for (int i = 0; i < RUNS; i++)
		after[i].op_ns -= 200;
	assert_int_equal(changed_in(before, 5, after, 5, DIFF_TIMES), 0);
	/* four do not show their spread */
	diff = compared(before, 4, after, 4);
	assert_int_equal(diff->outcome.differences, 0);
	diff_free(diff);
}

static void waits_need_several_runs(void **state)
{
	struct made before[RUNS], after[RUNS];
	struct diff *diff;

	(void)state;
	sets(before, after);
	for (int i = 0; i < RUNS; i++)
		after[i].wait_ns = 1000000 + i;
	assert_changed(
		before, 5, after, 5,
		"waits: late_sender MPI_Recv: - > 1, 1,000,002 ns (1,000,000 ns to 1,000,004 "
		"ns)\n");
	diff = compared(before, 4, after, 5);
	assert_rows(diff, DIFF_CHANGED, "");
	assert_int_equal(diff->changed[DIFF_WAITS], 0);
	diff_free(diff);
}

static void counts_that_vary(void **state)
{
	struct made before[RUNS], after[RUNS];

	(void)state;
	sets(before, after);
	before[0].sends = 90;
	after[0].sends = 105; /* within 90 to 100, and beyond */
	assert_changed(before, 5, after, 5, "");
	for (int i = 0; i < RUNS; i++)
		after[i].sends = 200;
	assert_changed(before, 5, after, 5, "calls: MPI_Send: 110 (100 to 110) > 210\n");
	/* of one run after, nobody knows */
	assert_verdicts(before, 5, after, 1, "", DIFF_VARIES,
			"calls: MPI_Send: 110 (100 to 110) > 210\n");
}

static void the_same_sum_of_other_ranks(void **state)
{
	struct made before[RUNS], after[RUNS];

	(void)state;
	sets(before, after);
	for (int i = 0; i < RUNS; i++) {
		after[i].sends = usual.sends_of_1;
		after[i].sends_of_1 = usual.sends;
	}
	assert_verdicts(before, 1, after, 1, "", DIFF_VARIES, "calls: MPI_Send: 110 > 110\n");
	assert_changed(before, 2, after, 2, "calls: MPI_Send: 110 > 110\n");
}

static void a_variable_that_varies(void **state)
{
	struct made before[RUNS], after[RUNS];

	(void)state;
	sets(before, after);
	before[1].kernel = "6.18";
	assert_verdicts(before, 2, after, 2, "", DIFF_VARIES,
			"system: kernel (host 1): 6.1 or 6.18 > 6.1\n");
	after[0].kernel = after[1].kernel = "6.19";
	assert_changed(before, 2, after, 2, "system: kernel (host 1): 6.1 or 6.18 > 6.19\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_run_does_not_differ),
		cmocka_unit_test(another_job_does_not_differ),
		cmocka_unit_test(variables_by_rank),
		cmocka_unit_test(hosts_and_libraries),
		cmocka_unit_test(mpi_is_not_known),
		cmocka_unit_test(counts_are_exact),
		cmocka_unit_test(paths_come_and_go),
		cmocka_unit_test(algorithms_of_collectives),
		cmocka_unit_test(a_switch_point_moves),
		cmocka_unit_test(functions_have_switch_points_of_their_own),
		cmocka_unit_test(other_sizes_of_the_same_switch_point),
		cmocka_unit_test(protocols_of_other_names),
		cmocka_unit_test(times_of_one_run),
		cmocka_unit_test(times_of_several_runs),
		cmocka_unit_test(waits_need_several_runs),
		cmocka_unit_test(counts_that_vary),
		cmocka_unit_test(the_same_sum_of_other_ranks),
		cmocka_unit_test(a_variable_that_varies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
