// SPDX-License-Identifier: BSD-3-Clause
/* COV-03: what was planned, in ledgers and captures; who is to blame, and who is not. */
#include "sweep_bed.h"

#define FOUR SPEC "classes: { c: { nodes: 'n[0-3]' } }\n"
#define SMALL                                                                                      \
	&(struct plan_options)                                                                     \
	{                                                                                          \
		.variant = "all-pairs", .max_size = 1024, .max_count = 4, .collective = true       \
	}

/* Ranks 2 k and 2 k + 1 are on node k. */
static void begin(struct sweep_bed *bed)
{
	sweep_begin(bed, FOUR, SMALL);
	assert_int_equal(bed->ranks, 8);
}

static void as_planned(void **state)
{
	struct sweep_bed bed;

	(void)state;
	begin(&bed);
	sweep_run(&bed, true);
	for (int i = 0; i < 8; i += 2)
		sweep_expect(&bed, "COV-03", sweep_node(&bed, i), VERDICT_PASS, NULL);
	/*
	 * per node: 8 and 1024 B, 5 times within it from each rank; twice in 3 rounds of path; 5
	 * times in 3 rounds of time, the largest both ways as well; 11 persistent ones
	 */
	assert_int_equal(sweep_finding(&bed, "COV-03", "n2")->count,
			 2 * 2 * 5 + 2 * 2 * 3 + 2 * 5 * 3 + 5 * 3 + 2 * 11);
	sweep_end(&bed);
}

static bool one_of_n1(int src, int dst, uint64_t size, uint32_t i)
{
	return src == 2 && dst == 4 && size == 1024 && i == 1;
}

/* One message of many, in one of the rounds in which it was sent. */
static void one_message_untraced(void **state)
{
	struct sweep_bed bed;

	(void)state;
	begin(&bed);
	bed.untraced = one_of_n1;
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-03", "n0", VERDICT_PASS, NULL);
	sweep_expect(&bed, "COV-03", "n1", VERDICT_FAIL, "rank 2 sent ");
	sweep_expect(&bed, "COV-03", "n2", VERDICT_FAIL, "from rank 2 of n1");
	sweep_expect(&bed, "COV-03", "n3", VERDICT_PASS, NULL);
	sweep_end(&bed);

	/* where records were lost, that may be why */
	begin(&bed);
	bed.untraced = one_of_n1;
	bed.totals.dropped[0] = (struct fact_reason){ "ring full", 1 };
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-03", "n1", VERDICT_UNKNOWN, "rank 2 sent ");
	sweep_expect(&bed, "COV-03", "n0", VERDICT_UNKNOWN, "COV-01");
	sweep_end(&bed);
}

static void untraced_rank(void **state)
{
	struct sweep_bed bed;

	(void)state;
	begin(&bed);
	bed.no_capture[2] = true;
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-03", "n1", VERDICT_FAIL, "rank 2 (pid 102) was not traced");
	sweep_expect(&bed, "COV-03", "n0", VERDICT_PASS, NULL);
	sweep_end(&bed);

	/* no capture of the node: nobody knows */
	begin(&bed);
	bed.no_capture[2] = bed.no_capture[3] = true;
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-03", "n1", VERDICT_UNKNOWN, "no capture");
	sweep_expect(&bed, "COV-03", "n0", VERDICT_PASS, NULL);
	sweep_end(&bed);
}

static bool without_n2(struct ledger_entry *entry)
{
	return entry->dst_rank / 2 == 2 && entry->dst_rank >= 0;
}

static bool with_n2(int src, int dst, uint64_t size, uint32_t i)
{
	(void)size;
	(void)i;
	return src / 2 == 2 || dst / 2 == 2;
}

static void dead_node(void **state)
{
	struct sweep_bed bed;

	(void)state;
	begin(&bed);
	bed.no_ledger[4] = bed.no_ledger[5] = bed.no_capture[4] = bed.no_capture[5] = true;
	/* its partners met nobody: they wrote nothing of it, and sent nothing */
	bed.leave_out = without_n2;
	bed.untraced = with_n2;
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-03", "n2", VERDICT_UNKNOWN, "no report");
	sweep_expect(&bed, "COV-03", "n1", VERDICT_PASS, NULL);
	sweep_end(&bed);
}

static bool without_last_rank(struct ledger_entry *entry)
{
	return entry->dst_rank == 7 || entry->src_rank == 7;
}

static void missing_rank(void **state)
{
	struct sweep_bed bed;

	(void)state;
	begin(&bed);
	bed.no_ledger[7] = true;
	bed.leave_out = without_last_rank;
	sweep_run(&bed, false);
	sweep_expect(&bed, "COV-03", "n3", VERDICT_FAIL, "1 of 2 ranks");
	sweep_end(&bed);
}

/* Rank 2 says nothing any more in the second round of times; its partner waits for it, others too.
 */
static bool rank_2_hangs(struct ledger_entry *entry)
{
	static bool over[8];
	int rank = entry->rank;

	if (entry->kind == LEDGER_BEGIN && !entry->round && entry->stage == STAGE_INTRA)
		over[rank] = false;
	if (over[rank])
		return true;
	if (entry->stage != STAGE_TIME || entry->round != 1 || entry->kind != LEDGER_BEGIN)
		return false;
	over[rank] = true;
	if (rank == 2)
		return false;
	entry->kind = LEDGER_STUCK;
	return false;
}

static void hung_rank(void **state)
{
	struct sweep_bed bed;

	(void)state;
	begin(&bed);
	bed.leave_out = rank_2_hangs;
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-03", "n1", VERDICT_FAIL,
		     "rank 2 of n1 hangs or has died, in round 1 of stage time");
	sweep_expect(&bed, "COV-03", "n0", VERDICT_UNKNOWN, "rank 2 of n1 hangs");
	sweep_expect(&bed, "COV-03", "n3", VERDICT_UNKNOWN, "rank 2 of n1 hangs");
	sweep_end(&bed);
}

static bool wrong_content(struct ledger_entry *entry)
{
	entry->errors = entry->kind == LEDGER_TRANSFER && entry->src_rank == 6 &&
			entry->op == PLAN_BIDIRECTIONAL;
	return false;
}

static void content_changed(void **state)
{
	struct sweep_bed bed;

	(void)state;
	begin(&bed);
	bed.leave_out = wrong_content;
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-03", "n3", VERDICT_FAIL, "came with other content");
	sweep_expect(&bed, "COV-03", "n0", VERDICT_PASS, NULL);
	sweep_end(&bed);
}

static bool one_line_missing(struct ledger_entry *entry)
{
	return entry->kind == LEDGER_TRANSFER && entry->src_rank == 0 &&
	       entry->stage == STAGE_PATH && entry->round == 2 && entry->msg_size == 8;
}

static void ledger_lacks_a_line(void **state)
{
	struct sweep_bed bed;

	(void)state;
	begin(&bed);
	bed.leave_out = one_line_missing;
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-03", "n0", VERDICT_FAIL, "rank 0 wrote nothing of p2p of 8 B");
	sweep_end(&bed);
}

static bool other_size(struct ledger_entry *entry)
{
	if (entry->kind == LEDGER_TRANSFER && entry->src_rank == 0 && entry->stage == STAGE_PATH)
		entry->msg_size += entry->round == 2;
	return false;
}

static void not_planned(void **state)
{
	struct sweep_bed bed;

	(void)state;
	begin(&bed);
	bed.leave_out = other_size;
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-03", "n0", VERDICT_FAIL, "wrote nothing of");
	sweep_end(&bed);
}

static void twice(void **state)
{
	struct sweep_bed bed;

	(void)state;
	begin(&bed);
	sweep_ledger(&bed, 0, false);
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-03", "n0", VERDICT_FAIL, "2 times");
	sweep_end(&bed);
}

static void ledgers_of_another_plan(void **state)
{
	const struct ledger_entry head = { .kind = LEDGER_HEAD,
					   .plan = "another",
					   .node = "n0",
					   .host = "n0",
					   .mpi = "MPI",
					   .size = 1,
					   .pid = 1 };
	struct sweep_bed bed;

	(void)state;
	begin(&bed);
	judge_ledger(bed.judge, &head);
	judge_finish(bed.judge, &bed.totals, 20000);
	sweep_expect(&bed, "COV-03", "all nodes", VERDICT_UNKNOWN, "another plan");
	sweep_end(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_planned),
		cmocka_unit_test(one_message_untraced),
		cmocka_unit_test(untraced_rank),
		cmocka_unit_test(dead_node),
		cmocka_unit_test(missing_rank),
		cmocka_unit_test(hung_rank),
		cmocka_unit_test(content_changed),
		cmocka_unit_test(ledger_lacks_a_line),
		cmocka_unit_test(not_planned),
		cmocka_unit_test(twice),
		cmocka_unit_test(ledgers_of_another_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
