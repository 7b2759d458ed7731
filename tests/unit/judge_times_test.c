// SPDX-License-Identifier: BSD-3-Clause
/* Rules of times over ledgers: what depends on the size, tails, what is usual. */
#include "sweep_times.h"

static uint64_t hump(const struct plan *plan, const struct plan_stage *stage, uint32_t round,
		     const struct plan_step *step)
{
	(void)stage;
	(void)round;
	return usual(plan, step) * (step->work->size == 8192 ? 10 : 1);
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

/* What the table for people has in it. */
static void expect_text(const struct sweep_bed *bed, const char *wanted)
{
	static const struct judge_output how;
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(judge_text(bed->judge, &how, out), 0);
	fclose(out);
	if (!strstr(text, wanted))
		fail_msg("not said: %s\n%s", wanted, text);
	free(text);
}

static void humps(void **state)
{
	struct sweep_bed bed;

	(void)state;
	run(&bed, SIX, hump);
	sweep_expect(&bed, "PROTO-01", "inter.host-host", VERDICT_FAIL,
		     "8192 B take 27.3 us, 65536 B take 7.83 us");
	expect_text(&bed, "2 of 2 classes");
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

/* Of a node in the midst of others, as of the last one. */
static void alltoall_without_a_rate(void **state)
{
	struct sweep_bed bed;

	(void)state;
	for (int node = 0; node < 6; node++) {
		char policy[200], others[32] = "";

		for (int i = 0; i < 6; i++)
			if (i != node)
				snprintf(others + strlen(others), sizeof(others) - strlen(others),
					 "%sn%d", *others ? "," : "", i);
		snprintf(policy, sizeof(policy),
			 SPEC "classes: { c: { nodes: '%s', nic_rate: 100Gb/s }, "
			      "d: { nodes: 'n%d' } }\n",
			 others, node);
		run(&bed, policy, slow_alltoall);
		sweep_expect(&bed, "PERF-04", NULL, VERDICT_SKIP, "rate is not known");
		sweep_end(&bed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),
		cmocka_unit_test(humps),
		cmocka_unit_test(tails),
		cmocka_unit_test(alltoall),
		cmocka_unit_test(alltoall_without_a_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
