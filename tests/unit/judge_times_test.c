// SPDX-License-Identifier: BSD-3-Clause
/* Rules of times over ledgers: who is slow, and who is not. */
#include "sweep_bed.h"

#define SIX SPEC "classes: { c: { nodes: 'n[0-5]', nic_rate: 100Gb/s } }\n"
#define LARGE (4 << 20)

static const struct plan_options often = {
	.variant = "all-pairs:3", .max_size = LARGE, .max_count = 100, .collective = true
};

/* 2 us, and 90 Gb/s; a byte of an alltoall crosses a link once for each of the others' ranks. */
static uint64_t usual(const struct plan *plan, const struct plan_step *step)
{
	uint64_t bytes = step->work->size;

	if (step->work->op == PLAN_ALLTOALL)
		bytes *= plan->ranks * plan->ranks * (plan->nodes.len - 1);
	return 2000 + bytes * 8 / 90;
}

static uint64_t all_alike(const struct plan *plan, const struct plan_stage *stage, uint32_t round,
			  const struct plan_step *step)
{
	(void)stage;
	(void)round;
	return usual(plan, step);
}

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

static uint64_t hump(const struct plan *plan, const struct plan_stage *stage, uint32_t round,
		     const struct plan_step *step)
{
	(void)stage;
	(void)round;
	return usual(plan, step) * (step->work->size == 8192 ? 10 : 1);
}

typedef uint64_t (*times_t)(const struct plan *plan, const struct plan_stage *stage, uint32_t round,
			    const struct plan_step *step);

static void run(struct sweep_bed *bed, const char *policy, times_t times)
{
	sweep_begin(bed, policy, &often);
	bed->time_of = times;
	sweep_run(bed, false);
}

static void in_order(void **state)
{
	struct sweep_bed bed;

	(void)state;
	run(&bed, SIX, all_alike);
	for (int i = 0; i < 6; i++) {
		sweep_expect(&bed, "PERF-01", bed.plan->nodes.data[i].name, VERDICT_PASS, NULL);
		sweep_expect(&bed, "PERF-03", bed.plan->nodes.data[i].name, VERDICT_PASS, NULL);
	}
	sweep_expect(&bed, "PERF-02", "all pairs", VERDICT_PASS, NULL);
	/* 15 pairs, the smallest and the largest size */
	assert_int_equal(sweep_finding(&bed, "PERF-02", NULL)->count, 30);
	sweep_expect(&bed, "PERF-04", "all nodes", VERDICT_PASS, NULL);
	sweep_expect(&bed, "PROTO-01", "inter.host-host", VERDICT_PASS, NULL);
	sweep_expect(&bed, "PROTO-01", "intra.host-host", VERDICT_PASS, NULL);
	sweep_expect(&bed, "FAB-03", "inter.host-host", VERDICT_PASS, NULL);
	sweep_expect(&bed, "PERF-05", NULL, VERDICT_SKIP, "needs a baseline");
	sweep_end(&bed);
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

static void run_confirmed(struct sweep_bed *bed, times_t times)
{
	const enum plan_trust trust[] = { PLAN_TRUSTED, PLAN_TRUSTED, PLAN_TRUSTED,
					  PLAN_SUSPECT, PLAN_TRUSTED, PLAN_TRUSTED };
	char why[PLAN_WHY];

	sweep_begin(bed, SIX, &often);
	assert_int_equal(plan_confirm(bed->plan, trust, 15, why), 0);
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
	expect_suspects(&bed, 0, 0);
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

static void few_rounds(void **state)
{
	struct sweep_bed bed;

	(void)state;
	sweep_begin(&bed, SIX, &(struct plan_options){ .variant = "sample:2", .max_size = 1024 });
	bed.time_of = slow_n3;
	sweep_run(&bed, false);
	sweep_expect(&bed, "PERF-01", NULL, VERDICT_SKIP, "three rounds");
	sweep_expect(&bed, "PERF-02", NULL, VERDICT_SKIP, "met often enough");
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
	bed.sink.transfer(bed.sink.arg, &(struct fact_transfer){ .process = 6,
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

static void humps(void **state)
{
	struct sweep_bed bed;

	(void)state;
	run(&bed, SIX, hump);
	sweep_expect(&bed, "PROTO-01", "inter.host-host", VERDICT_FAIL,
		     "8192 B take 27.28 us, 65536 B take 7.825 us");
	sweep_end(&bed);

	run(&bed, SIX "rules: { PROTO-01: { tolerance: 4 } }\n", hump);
	sweep_expect(&bed, "PROTO-01", "inter.host-host", VERDICT_PASS, NULL);
	sweep_end(&bed);
}

static bool long_tail(struct ledger_entry *entry)
{
	if (entry->kind == LEDGER_TRANSFER && entry->msg_size == 8)
		entry->ns.p99 = 4 * entry->ns.p50;
	return false;
}

static bool wide(struct ledger_entry *entry)
{
	if (entry->kind == LEDGER_TRANSFER && entry->msg_size == LARGE)
		entry->ns.p75 = entry->ns.p50 * 1.1;
	return false;
}

static void tails(void **state)
{
	struct sweep_bed bed;

	(void)state;
	sweep_begin(&bed, SIX, &often);
	bed.leave_out = long_tail;
	sweep_run(&bed, false);
	sweep_expect(&bed, "FAB-03", "inter.host-host", VERDICT_FAIL, "8 B: p99 is 4.0 times p50");
	sweep_end(&bed);

	sweep_begin(&bed, SIX, &often);
	bed.leave_out = wide;
	sweep_run(&bed, false);
	sweep_expect(&bed, "FAB-03", "inter.host-host", VERDICT_FAIL,
		     "4194304 B: quartiles are 10 %");
	sweep_end(&bed);
}

/* Half of the usual rate: what links allow takes half of the time. */
static uint64_t slow_alltoall(const struct plan *plan, const struct plan_stage *stage,
			      uint32_t round, const struct plan_step *step)
{
	(void)stage;
	(void)round;
	return usual(plan, step) * (step->work->op == PLAN_ALLTOALL ? 2 : 1);
}

static void alltoall(void **state)
{
	struct sweep_bed bed;

	(void)state;
	run(&bed, SIX, slow_alltoall);
	sweep_expect(&bed, "PERF-04", "all nodes", VERDICT_FAIL, "0.45: alltoall of");
	sweep_end(&bed);
}

#define REFERENCE                                                                                  \
	SIX "reference: { inter.host-host.4M: [%s, -0.05, null, Gb/s], "                           \
	    "inter.host-host.8.p50: [2, null, %s, us] }\n"

static void references(void **state)
{
	static const struct {
		const char *rate, *upper;
		enum verdict rated, timed;
	} cases[] = { { "90", "0.1", VERDICT_PASS, VERDICT_PASS },
		      { "95", "0.1", VERDICT_FAIL, VERDICT_PASS },
		      { "94", "0", VERDICT_PASS, VERDICT_PASS } };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct sweep_bed bed;
		char policy[400];

		snprintf(policy, sizeof(policy), REFERENCE, cases[i].rate, cases[i].upper);
		run(&bed, policy, all_alike);
		sweep_expect(&bed, "PERF-05", "inter.host-host.4M", cases[i].rated, NULL);
		sweep_expect(&bed, "PERF-05", "inter.host-host.8.p50", cases[i].timed, NULL);
		sweep_end(&bed);
	}
}

static void wrong_references(void **state)
{
	struct sweep_bed bed;

	(void)state;
	run(&bed,
	    SIX
	    "reference: { here.host-host.4M: [1, null, null, Gb/s], "
	    "inter.host-host.3: [1, null, null, us], inter.host-host.8: [1, null, null, kg] }\n",
	    all_alike);
	sweep_expect(&bed, "PERF-05", "here.host-host.4M", VERDICT_UNKNOWN, "not LOC.MEM");
	sweep_expect(&bed, "PERF-05", "inter.host-host.3", VERDICT_SKIP, "no such time");
	sweep_expect(&bed, "PERF-05", "inter.host-host.8", VERDICT_UNKNOWN, "unit");
	sweep_end(&bed);
}

static void take_as_baseline(struct sweep_bed *bed, struct sweep_bed *earlier)
{
	judge_baseline_plan(bed->judge, earlier->plan);
	for (int rank = 0; rank < earlier->ranks; rank++) {
		const struct plan *plan = earlier->plan;
		struct ledger_entry entry = { .kind = LEDGER_HEAD,
					      .rank = rank,
					      .plan = plan->id,
					      .node = sweep_node(earlier, rank),
					      .host = "h",
					      .mpi = "MPI",
					      .size = earlier->ranks,
					      .local = rank % plan->ranks,
					      .pid = 1 };
		const struct plan_stage *stage = plan_stage(plan, STAGE_TIME);
		plan_steps_t steps = { 0 };

		judge_baseline_ledger(bed->judge, &entry);
		plan_steps(plan, stage, 0, rank / plan->ranks, rank % plan->ranks, &steps);
		for (size_t i = 0; i < steps.len; i++) {
			const struct plan_step *step = &steps.data[i];

			if (!step->sends)
				continue;
			entry = (struct ledger_entry){ .kind = LEDGER_TRANSFER,
						       .rank = rank,
						       .stage = STAGE_TIME,
						       .op = step->work->op,
						       .src = sweep_node(earlier, rank),
						       .dst = plan->nodes.data[step->dst].name,
						       .src_rank = rank,
						       .msg_size = step->work->size,
						       .count = step->work->count };
			entry.ns.p50 = usual(plan, step);
			judge_baseline_ledger(bed->judge, &entry);
		}
		vec_release(&steps);
	}
}

static uint64_t slower(const struct plan *plan, const struct plan_stage *stage, uint32_t round,
		       const struct plan_step *step)
{
	(void)stage;
	(void)round;
	return usual(plan, step) * (step->work->size == LARGE ? 1.1 : 1.02);
}

static void earlier_sweep(void **state)
{
	struct sweep_bed bed, earlier;

	(void)state;
	sweep_begin(&earlier, SIX, &often);
	sweep_begin(&bed, SIX, &often);
	take_as_baseline(&bed, &earlier);
	bed.time_of = slower;
	sweep_run(&bed, false);
	sweep_expect(&bed, "PERF-05", "inter.host-host.4194304", VERDICT_FAIL, "rate -9 %");
	sweep_expect(&bed, "PERF-05", "inter.host-host.8", VERDICT_PASS, NULL);
	sweep_end(&bed);
	sweep_end(&earlier);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),
		cmocka_unit_test(slow_node),
		cmocka_unit_test(confirmed),
		cmocka_unit_test(suspected),
		cmocka_unit_test(slow_pair_of_good_nodes),
		cmocka_unit_test(few_rounds),
		cmocka_unit_test(explained),
		cmocka_unit_test(humps),
		cmocka_unit_test(tails),
		cmocka_unit_test(alltoall),
		cmocka_unit_test(references),
		cmocka_unit_test(wrong_references),
		cmocka_unit_test(earlier_sweep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
