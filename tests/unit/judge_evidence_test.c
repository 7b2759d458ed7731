// SPDX-License-Identifier: BSD-3-Clause
/* Rules about the evidence itself, what they do to others, waivers, exit status. */
#include "judge_bed.h"

static void begin(struct bed *bed, const char *policy)
{
	bed_begin(bed, policy);
	bed_move(bed, &(struct moved){ 0, 1, .bytes = 8 });
	bed->totals.stored = 10;
	bed->totals.sends = bed->totals.receives = 1000;
}

static void all_is_well(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	bed_judge(&bed);
	bed_expect(&bed, "COV-01", NULL, VERDICT_PASS);
	bed_expect(&bed, "COV-04", NULL, VERDICT_PASS);
	bed_expect(&bed, "COV-05", "n0", VERDICT_PASS);
	bed_expect(&bed, "COV-06", "n0", VERDICT_PASS);
	bed_expect(&bed, "CFG-01", "n1", VERDICT_PASS);
	bed_expect(&bed, "PATH-11", "n0:rank0", VERDICT_PASS);
	bed_expect(&bed, "PATH-03", "n0", VERDICT_PASS);
	assert_int_equal(judge_status(bed.judge, false), 0);
	bed_end(&bed);
}

/* What failed was seen; what passed may have been seen in part. */
static void loss_lets_nothing_pass(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	bed_move(&bed, &(struct moved){ 2, 3, "tcp", "lo", .bytes = 8 });
	bed.totals.dropped[0] = (struct fact_reason){ "ring full", 3 };
	bed_judge(&bed);
	bed_expect(&bed, "COV-01", NULL, VERDICT_FAIL);
	assert_int_equal(bed_finding(&bed, "COV-01", NULL)->count, 3);
	bed_expect(&bed, "PATH-03", "n0", VERDICT_UNKNOWN);
	bed_expect(&bed, "PATH-03", "n1", VERDICT_FAIL);
	bed_expect(&bed, "PATH-08", NULL, VERDICT_SKIP);
	assert_int_equal(judge_status(bed.judge, false), 2);
	bed_end(&bed);
}

static void damage_is_loss(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	bed.totals.damaged_bytes = 1;
	bed_judge(&bed);
	bed_expect(&bed, "COV-01", NULL, VERDICT_FAIL);
	bed_expect(&bed, "COV-05", "n0", VERDICT_UNKNOWN);
	bed_end(&bed);
}

/* A capture that could not be read may have held anything; what was seen to be wrong is wrong. */
static void broken_captures(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	bed_move(&bed, &(struct moved){ 2, 3, "tcp", "lo", .bytes = 8 });
	judge_captures_broken(bed.judge);
	bed_judge(&bed);
	bed_expect(&bed, "COV-01", NULL, VERDICT_UNKNOWN);
	bed_expect(&bed, "PATH-03", "n0", VERDICT_UNKNOWN);
	bed_expect(&bed, "PATH-03", "n1", VERDICT_FAIL);
	assert_int_equal(judge_summary(bed.judge).verdicts[VERDICT_PASS], 0);
	bed_end(&bed);
}

/* A trace of a machine where nothing ran that the rules are about. */
static void nothing_captured(void **state)
{
	struct policy *policy = policy_default();
	struct judge *judge = judge_new(policy);
	const struct fact_totals totals = { .stored = 2 };

	(void)state;
	judge_finish(judge, &totals, 20000);
	assert_int_equal(judge_summary(judge).verdicts[VERDICT_UNKNOWN], 1);
	assert_int_equal(judge_status(judge, false), 3);
	judge_free(judge);
	policy_free(policy);
}

static void ends_without_another(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	bed.totals.unmatched_sends[0] = (struct fact_reason){ "in flight at end", 3 };
	bed_judge(&bed);
	bed_expect(&bed, "COV-04", NULL, VERDICT_UNKNOWN);
	assert_int_equal(judge_status(bed.judge, false), 3);
	bed_end(&bed);

	begin(&bed, SPEC "rules: { COV-04: { share: 0.01 } }\n");
	bed.totals.unmatched_sends[0] = (struct fact_reason){ "in flight at end", 3 };
	bed_judge(&bed);
	bed_expect(&bed, "COV-04", NULL, VERDICT_PASS);
	bed_end(&bed);
}

/* Of a pair, both nodes are concerned. */
static void nodes_of_a_pair(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	bed_move(&bed, &(struct moved){ 0, 2, "tcp", "eth0", .bytes = 1 << 22 });
	bed_judge(&bed);
	bed_expect(&bed, "PATH-02", "n0>n1", VERDICT_FAIL);
	assert_int_equal(judge_summary(bed.judge).failed_nodes, 2);
	bed_end(&bed);
}

/* A node that nobody looked at is held against no other one. */
static void peers_in_no_capture(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC "expect: [ { loc: inter, tl: [rc_*] } ]\n");
	bed_move(&bed, &(struct moved){ 2, -1, "tcp", "eth0", .bytes = 1 << 22 });
	bed_move(&bed, &(struct moved){ 2, 3, .bytes = 8 });
	bed_judge(&bed);
	bed_expect(&bed, "COV-04", "n1", VERDICT_UNKNOWN);
	bed_expect(&bed, "PATH-03", "n1", VERDICT_UNKNOWN);
	bed_expect(&bed, "PATH-03", "n0", VERDICT_PASS);
	bed_expect(&bed, "PATH-01", NULL, VERDICT_SKIP);
	bed_expect(&bed, "CFG-01", "n1", VERDICT_PASS);
	assert_int_equal(judge_status(bed.judge, false), 3);
	bed_end(&bed);
}

/* 1 of 50 bytes is unknown, then half. */
static void bytes_of_unknown_way(void **state)
{
	static const struct {
		uint64_t known;
		enum severity severity;
	} cases[] = { { 49, SEVERITY_WARNING }, { 1, SEVERITY_CRITICAL } };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct bed bed;

		bed_begin(&bed, SPEC);
		bed_move(&bed, &(struct moved){ 0, 1, .bytes = 1, .count = cases[i].known });
		bed_move(&bed, &(struct moved){ 0, 1, "none", .bytes = 1 });
		bed_judge(&bed);
		bed_expect(&bed, "COV-05", "n0", VERDICT_FAIL);
		assert_int_equal(bed_finding(&bed, "COV-05", "n0")->severity, cases[i].severity);
		bed_end(&bed);
	}
}

static void software(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	bed.ucx[3][0].build_id = "b2";
	bed.ucx[3][0].version = "1.15.0";
	bed_rank(&bed, 3, 1);
	bed_rank(&bed, 0, 2);
	bed_judge(&bed);
	/* a second copy in rank 0; another build in rank 3 */
	bed_expect(&bed, "COV-06", "n0", VERDICT_FAIL);
	assert_non_null(strstr(bed_finding(&bed, "COV-06", "n0")->seen, "pid 100"));
	bed_expect(&bed, "COV-06", "n1", VERDICT_FAIL);
	bed_expect(&bed, "CFG-01", "n1", VERDICT_FAIL);
	assert_non_null(strstr(bed_finding(&bed, "CFG-01", "n1")->seen, "1.15.0"));
	bed_expect(&bed, "CFG-01", "n0", VERDICT_PASS);
	bed_end(&bed);
}

/* 1.1 is not in 1.13.1, though its letters are. */
static void versions_of_a_node(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	bed.ucx[3][0].version = "1.1";
	bed_rank(&bed, 3, 1);
	bed_judge(&bed);
	bed_expect(&bed, "CFG-01", "n1", VERDICT_FAIL);
	assert_string_equal(bed_finding(&bed, "CFG-01", "n1")->seen,
			    "Open MPI 4.1.4 UCX 1.13.1, Open MPI 4.1.4 UCX 1.1");
	bed_end(&bed);
}

static void mpi_without_ucx(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	bed_call(&bed, 3, "MPI_Allreduce");
	bed_call(&bed, 2, "MPI_Comm_rank");
	bed_judge(&bed);
	bed_expect(&bed, "PATH-11", "n1:rank3", VERDICT_FAIL);
	bed_expect(&bed, "PATH-11", "n0:rank0", VERDICT_PASS);
	bed_end(&bed);
}

#define FAILING                                                                                    \
	{                                                                                          \
		0, 1, "tcp", "lo", .bytes = 8                                                      \
	}

static void waivers(void **state)
{
	static const struct {
		const char *policy;
		enum verdict verdict;
	} cases[] = {
		{ SPEC
		  "waive: [ { rule: PATH-03, subject: 'n*', until: 2024-10-04, reason: r } ]\n",
		  VERDICT_WAIVED },
		{ SPEC "waive: [ { rule: PATH-03, subject: n0, until: 2024-10-03, reason: r } ]\n",
		  VERDICT_FAIL },
		{ SPEC "waive: [ { rule: PATH-03, subject: n1, until: 2024-10-04, reason: r } ]\n",
		  VERDICT_FAIL },
		{ SPEC "waive: [ { rule: PATH-04, subject: n0, until: 2024-10-04, reason: r } ]\n",
		  VERDICT_FAIL },
	};

	(void)state;
	/* day 20000 is 2024-10-04 */
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bed bed;

		bed_begin(&bed, cases[i].policy);
		bed_move(&bed, &(struct moved)FAILING);
		bed_judge(&bed);
		bed_expect(&bed, "PATH-03", "n0", cases[i].verdict);
		bed_end(&bed);
	}
}

static void switched_off(void **state)
{
	struct bed bed;

	(void)state;
	bed_begin(&bed,
		  SPEC "rules: { PATH-03: { severity: off }, PATH-05: { severity: info } }\n");
	bed_move(&bed, &(struct moved)FAILING);
	bed_move(&bed, &(struct moved){ 0, 1, "sysv", "memory", "am_bcopy", .bytes = 1 << 20 });
	bed_judge(&bed);
	bed_expect(&bed, "PATH-03", NULL, VERDICT_SKIP);
	bed_expect(&bed, "PATH-05", "n0", VERDICT_FAIL);
	assert_int_equal(judge_status(bed.judge, false), 0);
	bed_end(&bed);
}

static void warnings_alone(void **state)
{
	struct bed bed;

	(void)state;
	bed_begin(&bed, SPEC "rules: { PATH-03: { severity: warning } }\n");
	bed_move(&bed, &(struct moved)FAILING);
	bed_judge(&bed);
	assert_int_equal(judge_status(bed.judge, false), 1);
	assert_int_equal(judge_status(bed.judge, true), 0);
	assert_int_equal(judge_summary(bed.judge).failed_nodes, 1);
	assert_int_equal(judge_summary(bed.judge).nodes, 2);
	bed_end(&bed);
}

/* Every rule of the catalogue says something, even of nothing. */
static void every_rule_speaks(void **state)
{
	struct bed bed;

	(void)state;
	bed_begin(&bed, SPEC);
	bed_judge(&bed);
	for (size_t i = 0; i < CATALOGUE_RULES; i++)
		bed_finding(&bed, catalogue[i].id, NULL);
	bed_end(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_well),
		cmocka_unit_test(loss_lets_nothing_pass),
		cmocka_unit_test(damage_is_loss),
		cmocka_unit_test(ends_without_another),
		cmocka_unit_test(nodes_of_a_pair),
		cmocka_unit_test(peers_in_no_capture),
		cmocka_unit_test(bytes_of_unknown_way),
		cmocka_unit_test(software),
		cmocka_unit_test(versions_of_a_node),
		cmocka_unit_test(mpi_without_ucx),
		cmocka_unit_test(waivers),
		cmocka_unit_test(switched_off),
		cmocka_unit_test(warnings_alone),
		cmocka_unit_test(every_rule_speaks),
		cmocka_unit_test(broken_captures),
		cmocka_unit_test(nothing_captured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
