// SPDX-License-Identifier: BSD-3-Clause
/* PERF-01 to PERF-03 over ledgers: who is slow, and who is not. */
#include "sweep_times.h"

static uint64_t slow_n3(const struct plan *plan, const struct plan_stage *stage, uint32_t round,
			const struct plan_step *step)
{
	(void)stage;
	(void)round;
	return usual(plan, step) * (step->src == 3 || step->dst == 3 ? 1.1 : 1);
}

static uint64_t slow_n3_once(const struct plan *plan, const struct plan_stage *stage,
			     uint32_t round, const struct plan_step *step)
{
	if (stage->kind == STAGE_CONFIRM)
		return usual(plan, step);
	return slow_n3(plan, stage, round, step);
}

/* What n3 sends takes a tenth more, which the median of both ways would hide. */
static uint64_t slow_sender(const struct plan *plan, const struct plan_stage *stage, uint32_t round,
			    const struct plan_step *step)
{
	(void)stage;
	(void)round;
	return usual(plan, step) * (step->src == 3 ? 11 : 10) / 10;
}

static bool is_pair(const struct plan_step *step, int a, int b)
{
	return (step->src == a && step->dst == b) || (step->src == b && step->dst == a);
}

static uint64_t slow_pair(const struct plan *plan, const struct plan_stage *stage, uint32_t round,
			  const struct plan_step *step)
{
	(void)stage;
	(void)round;
	return usual(plan, step) * (is_pair(step, 1, 4) ? 2 : 1);
}

static void slow_node(void **state)
{
	struct sweep_bed bed;

	(void)state;
	run(&bed, SIX, slow_n3);
	sweep_expect(&bed, "PERF-01", "n3", VERDICT_FAIL, "0.91 of the median of host-host");
	sweep_expect(&bed, "PERF-01", "n3", VERDICT_FAIL, "not confirmed yet");
	assert_int_equal(sweep_finding(&bed, "PERF-01", "n3")->severity, SEVERITY_WARNING);
	sweep_expect(&bed, "PERF-01", "n0", VERDICT_PASS, NULL);
	sweep_expect(&bed, "PERF-02", "all pairs", VERDICT_PASS, NULL);
	/* 90 of 100 Gb/s, and a tenth less */
	sweep_expect(&bed, "PERF-03", "n3", VERDICT_FAIL, "0.81 of it");
	sweep_expect(&bed, "PERF-03", "n2", VERDICT_PASS, NULL);
	sweep_end(&bed);
}

static void slow_one_way(void **state)
{
	struct sweep_bed bed;

	(void)state;
	run(&bed, SIX, slow_sender);
	sweep_expect(&bed, "PERF-03", "n3", VERDICT_FAIL, "0.81 of it sent");
	sweep_expect(&bed, "PERF-03", "n2", VERDICT_PASS, NULL);
	sweep_end(&bed);
}

static void run_confirmed(struct sweep_bed *bed, times_t times)
{
	const enum plan_trust trust[] = { PLAN_TRUSTED, PLAN_TRUSTED, PLAN_TRUSTED,
					  PLAN_SUSPECT, PLAN_TRUSTED, PLAN_TRUSTED };
	const struct plan_doubts doubts = { .trust = trust };
	char why[PLAN_WHY];

	sweep_begin(bed, SIX, &often);
	assert_int_equal(plan_confirm(bed->plan, &doubts, 15, why), 0);
	bed->time_of = times;
	sweep_run(bed, false);
}

static void confirmed(void **state)
{
	struct sweep_bed bed;

	(void)state;
	run_confirmed(&bed, slow_n3);
	/* there are five others */
	sweep_expect(&bed, "PERF-01", "n3", VERDICT_FAIL, "confirmed in 5 more");
	assert_int_equal(sweep_finding(&bed, "PERF-01", "n3")->severity, SEVERITY_CRITICAL);
	sweep_expect(&bed, "PERF-01", "n5", VERDICT_PASS, NULL);
	sweep_end(&bed);

	run_confirmed(&bed, slow_n3_once);
	sweep_expect(&bed, "PERF-01", "n3", VERDICT_PASS, NULL);
	sweep_end(&bed);
}

static void expect_suspects(const struct sweep_bed *bed, size_t slow, size_t sound)
{
	struct judge_suspects suspects;

	judge_suspects(bed->judge, &suspects);
	assert_int_equal(suspects.slow.len, slow);
	assert_int_equal(suspects.sound.len, sound);
	if (slow)
		assert_string_equal(suspects.slow.data[0], "n3");
	judge_suspects_release(&suspects);
}

/* Whom to look at again: nobody twice, nobody where the policy does not want it. */
static void suspected(void **state)
{
	struct sweep_bed bed;

	(void)state;
	run(&bed, SIX, all_alike);
	expect_suspects(&bed, 0, 6);
	sweep_end(&bed);
	run(&bed, SIX, slow_n3);
	expect_suspects(&bed, 1, 5);
	sweep_end(&bed);
	run_confirmed(&bed, slow_n3);
	expect_suspects(&bed, 0, 0);
	sweep_end(&bed);
	run(&bed, SIX "rules: { PERF-01: { confirm: false } }\n", slow_n3);
	sweep_expect(&bed, "PERF-01", "n3", VERDICT_FAIL, NULL);
	expect_suspects(&bed, 0, 5);
	sweep_end(&bed);
}

static void slow_pair_of_good_nodes(void **state)
{
	struct sweep_bed bed;

	(void)state;
	run(&bed, SIX, slow_pair);
	sweep_expect(&bed, "PERF-02", "n1<>n4", VERDICT_FAIL, "0.50 of the median");
	for (int i = 0; i < 6; i++)
		sweep_expect(&bed, "PERF-01", bed.plan->nodes.data[i].name, VERDICT_PASS, NULL);
	sweep_end(&bed);
}

/* In the confirmation it is as quick as others, or all that its nodes do is as slow. */
static uint64_t slow_pair_once(const struct plan *plan, const struct plan_stage *stage,
			       uint32_t round, const struct plan_step *step)
{
	return stage->kind == STAGE_CONFIRM ? usual(plan, step)
					    : slow_pair(plan, stage, round, step);
}

static uint64_t slow_ends_again(const struct plan *plan, const struct plan_stage *stage,
				uint32_t round, const struct plan_step *step)
{
	bool end = step->src == 1 || step->dst == 1;

	return stage->kind == STAGE_CONFIRM ? usual(plan, step) * (end ? 2 : 1)
					    : slow_pair(plan, stage, round, step);
}

static void run_pair_confirmed(struct sweep_bed *bed, times_t times)
{
	const enum plan_trust trust[] = { PLAN_TRUSTED, PLAN_TRUSTED, PLAN_TRUSTED,
					  PLAN_TRUSTED, PLAN_TRUSTED, PLAN_TRUSTED };
	const struct plan_pair pair = { 1, 4 };
	const struct plan_doubts doubts = { trust, &pair, 1 };
	char why[PLAN_WHY];

	sweep_begin(bed, SIX, &often);
	assert_int_equal(plan_confirm(bed->plan, &doubts, 15, why), 0);
	bed->time_of = times;
	sweep_run(bed, false);
}

static void confirmed_pair(void **state)
{
	struct judge_suspects suspects;
	struct sweep_bed bed;

	(void)state;
	run(&bed, SIX, slow_pair);
	sweep_expect(&bed, "PERF-02", "n1<>n4", VERDICT_FAIL, "not confirmed yet");
	judge_suspects(bed.judge, &suspects);
	assert_int_equal(suspects.slow.len, 0);
	assert_int_equal(suspects.pairs.len, 1);
	assert_string_equal(suspects.pairs.data[0].one, "n1");
	assert_string_equal(suspects.pairs.data[0].other, "n4");
	judge_suspects_release(&suspects);
	sweep_end(&bed);

	run_pair_confirmed(&bed, slow_pair);
	sweep_expect(&bed, "PERF-02", "n1<>n4", VERDICT_FAIL, "confirmed in 3 more");
	assert_int_equal(sweep_finding(&bed, "PERF-02", "n1<>n4")->severity, SEVERITY_WARNING);
	sweep_end(&bed);
	run_pair_confirmed(&bed, slow_pair_once);
	sweep_expect(&bed, "PERF-02", "all pairs", VERDICT_PASS, NULL);
	sweep_end(&bed);
	run_pair_confirmed(&bed, slow_ends_again);
	sweep_expect(&bed, "PERF-02", "all pairs", VERDICT_PASS, NULL);
	sweep_end(&bed);

	run(&bed, SIX "rules: { PERF-02: { confirm: false } }\n", slow_pair);
	judge_suspects(bed.judge, &suspects);
	assert_int_equal(suspects.pairs.len, 0);
	judge_suspects_release(&suspects);
	sweep_end(&bed);
}

/* n1 was slow, and again is so with n4 alone, which it meets more often: that is the pair's. */
static uint64_t slow_n1_then_pair(const struct plan *plan, const struct plan_stage *stage,
				  uint32_t round, const struct plan_step *step)
{
	bool n1 = step->src == 1 || step->dst == 1;

	if (stage->kind == STAGE_CONFIRM)
		return slow_pair(plan, stage, round, step);
	return usual(plan, step) * (n1 ? 2 : 1);
}

static void pair_is_no_node(void **state)
{
	const enum plan_trust trust[] = { PLAN_UNKNOWN, PLAN_SUSPECT, PLAN_TRUSTED,
					  PLAN_TRUSTED, PLAN_TRUSTED, PLAN_UNKNOWN };
	const struct plan_pair pair = { 1, 4 };
	const struct plan_doubts doubts = { trust, &pair, 1 };
	struct sweep_bed bed;
	char why[PLAN_WHY];

	(void)state;
	sweep_begin(&bed, SIX, &often);
	assert_int_equal(plan_confirm(bed.plan, &doubts, 15, why), 0);
	bed.time_of = slow_n1_then_pair;
	sweep_run(&bed, false);
	sweep_expect(&bed, "PERF-01", "n1", VERDICT_PASS, NULL);
	sweep_end(&bed);
}

static void few_rounds(void **state)
{
	struct sweep_bed bed;

	(void)state;
	sweep_begin(&bed, SIX, &(struct plan_options){ .variant = "sample:2", .max_size = 1024 });
	bed.time_of = slow_n3;
	sweep_run(&bed, false);
	sweep_expect(&bed, "PERF-01", NULL, VERDICT_SKIP, "three rounds");
	sweep_expect(&bed, "PERF-02", NULL, VERDICT_SKIP, "exchanged messages often enough");
	sweep_expect(&bed, "PERF-03", NULL, VERDICT_SKIP, "no message of 1 MiB");
	sweep_expect(&bed, "PERF-04", NULL, VERDICT_SKIP, "no alltoall");
	sweep_end(&bed);
}

/* What went over the wrong transport is slow for that reason. */
static void explained(void **state)
{
	struct sweep_bed bed;

	(void)state;
	sweep_begin(&bed, SIX, &often);
	bed.time_of = slow_n3;
	for (int rank = 0; rank < bed.ranks; rank++)
		sweep_process(&bed, rank);
	fact_put(&bed.sink, FACT_TRANSFER,
		 &(struct fact_transfer){ .process = 6,
					  .peer = 7,
					  .op = "am_zcopy",
					  .transport = "tcp",
					  .device = "eth0",
					  .locality = LOCALITY_NODE,
					  .kind = KIND_DATA,
					  .function = "MPI_Isend",
					  .src_mem = "host",
					  .dst_mem = "host",
					  .bytes = 1 << 20 });
	sweep_run(&bed, false);
	sweep_expect(&bed, "PATH-03", "n3", VERDICT_FAIL, NULL);
	sweep_expect(&bed, "PERF-01", "n3", VERDICT_SKIP, "explained by PATH-03 of n3");
	sweep_expect(&bed, "PERF-03", "n3", VERDICT_SKIP, "explained by PATH-03 of n3");
	sweep_expect(&bed, "PERF-01", "n0", VERDICT_PASS, NULL);
	sweep_end(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_node),
		cmocka_unit_test(slow_one_way),
		cmocka_unit_test(confirmed),
		cmocka_unit_test(suspected),
		cmocka_unit_test(slow_pair_of_good_nodes),
		cmocka_unit_test(confirmed_pair),
		cmocka_unit_test(pair_is_no_node),
		cmocka_unit_test(few_rounds),
		cmocka_unit_test(explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
