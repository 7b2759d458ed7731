// SPDX-License-Identifier: BSD-3-Clause
/* Rules about waiting: WAIT-01 to WAIT-03. Four ranks are observed for a second each. */
#include "judge_bed.h"

#define MS 1000000ull
#define RUN (1000 * MS)

static void begin_by(struct bed *bed, const char *policy)
{
	bed_begin(bed, policy);
	bed->totals.stored = 10;
	for (int rank = 0; rank < RANKS; rank++) {
		fact_put(&bed->sink, FACT_CALL,
			 &(struct fact_call){ .id = 1 + rank,
					      .process = rank,
					      .function = "MPI_Allreduce",
					      .start = 5 * MS });
		fact_put(&bed->sink, FACT_LIFETIME,
			 &(struct fact_lifetime){ .process = rank, .until = 5 * MS + RUN });
	}
}

static void begin(struct bed *bed)
{
	begin_by(bed, SPEC);
}

static const struct place places[] = {
	{ .label = "a.c:1" },
	{ .label = "b.c:2" },
	{ .label = "c.c:3" },
};

/* fresh: what it adds to the time that processes waited */
static void waits(struct bed *bed, enum wait_kind kind, int rank, int culprit, int root,
		  uint64_t ns, uint64_t fresh)
{
	fact_put(&bed->sink, FACT_WAIT,
		 &(struct fact_wait){ .kind = wait_kind_names[kind],
				      .call = 1 + rank,
				      .process = rank,
				      .function = "MPI_Allreduce",
				      .ns = ns,
				      .fresh = fresh,
				      .place = &places[0],
				      .culprit = culprit,
				      .culprit_function = "MPI_Recv",
				      .culprit_place = &places[1],
				      .root = root,
				      .root_function = "MPI_Send",
				      .root_place = &places[2] });
}

/* Rank 1 waits for rank 2, which waits for rank 3: that is a tenth of the four seconds. */
static void a_straggler_at_the_end_of_a_chain(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed);
	waits(&bed, WAIT_LATE_SENDER, 2, 3, 3, 200 * MS, 200 * MS);
	waits(&bed, WAIT_LATE_SENDER, 1, 2, 3, 200 * MS, 200 * MS);
	bed_judge(&bed);
	bed_expect(&bed, "WAIT-01", "n1:rank3", VERDICT_FAIL);
	bed_expect(&bed, "WAIT-01", "n1:rank2", VERDICT_PASS);
	assert_string_equal(
		bed_finding(&bed, "WAIT-01", "n1:rank3")->seen,
		"others waited for it 400 ms, 10.0 % of the run of all processes; most for "
		"its MPI_Send at c.c:3");
	bed_expect(&bed, "WAIT-02", "n1:rank3", VERDICT_PASS);
	bed_expect(&bed, "WAIT-03", "job", VERDICT_PASS);
	bed_end(&bed);
}

/* A ns of several kinds counts once for whom it waits. */
static void less_than_a_tenth(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed);
	waits(&bed, WAIT_LATE_SENDER, 1, 3, 3, 399 * MS, 399 * MS);
	waits(&bed, WAIT_AT_NXN, 1, 3, 3, 399 * MS, 0);
	bed_judge(&bed);
	bed_expect(&bed, "WAIT-01", "n1:rank3", VERDICT_PASS);
	bed_end(&bed);
}

static void late_progress_is_its_own(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed);
	waits(&bed, WAIT_LATE_PROGRESS, 0, 1, 1, 200 * MS, 200 * MS);
	bed_judge(&bed);
	bed_expect(&bed, "WAIT-02", "n0:rank1", VERDICT_FAIL);
	bed_expect(&bed, "WAIT-02", "n0:rank0", VERDICT_PASS);
	assert_string_equal(bed_finding(&bed, "WAIT-02", "n0:rank1")->seen,
			    "others waited for its progress 200 ms, 5.0 % of the run of all "
			    "processes; most until its MPI_Recv at b.c:2");
	bed_end(&bed);
}

static void imbalance_shows_in_collectives(void **state)
{
	const enum wait_kind kinds[] = { WAIT_AT_BARRIER, WAIT_AT_NXN, WAIT_LATE_BROADCAST,
					 WAIT_EARLY_REDUCE };
	struct bed bed;

	(void)state;
	begin(&bed);
	for (int i = 0; i < 4; i++)
		waits(&bed, kinds[i], i, (i + 1) % RANKS, (i + 1) % RANKS, 200 * MS, 200 * MS);
	bed_judge(&bed);
	bed_expect(&bed, "WAIT-03", "job", VERDICT_FAIL);
	assert_string_equal(bed_finding(&bed, "WAIT-03", "job")->seen,
			    "processes waited in collectives 800 ms, 20.0 % of the run of all "
			    "processes; most in MPI_Allreduce at a.c:1");
	bed_end(&bed);
}

static void without_messages_nothing_is_known(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed);
	bed.totals.self.known = 1;
	bed.totals.self.levels[LEVEL_UCP] = true;
	bed_judge(&bed);
	bed_expect(&bed, "WAIT-01", NULL, VERDICT_UNKNOWN);
	bed_expect(&bed, "WAIT-03", NULL, VERDICT_UNKNOWN);
	bed_end(&bed);
}

/* Waits that are not known, which were a tenth, a twentieth and a fifth of the time at most. */
static void what_is_not_known_may_be_too_much(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed);
	waits(&bed, WAIT_LATE_SENDER, 1, 3, 3, 100 * MS, 100 * MS);
	bed.totals.waits_hidden = (struct fact_hidden){ 300 * MS, 199 * MS, 799 * MS };
	bed_judge(&bed);
	bed_expect(&bed, "WAIT-01", "n1:rank3", VERDICT_UNKNOWN);
	bed_expect(&bed, "WAIT-01", "n0:rank0", VERDICT_PASS);
	bed_expect(&bed, "WAIT-02", "n1:rank3", VERDICT_PASS);
	bed_expect(&bed, "WAIT-03", "job", VERDICT_PASS);
	assert_string_equal(bed_finding(&bed, "WAIT-01", "n1:rank3")->why,
			    "unknown waits may be up to 300 ms long");
	bed_end(&bed);

	begin(&bed);
	waits(&bed, WAIT_LATE_SENDER, 1, 3, 3, 400 * MS, 400 * MS);
	bed.totals.waits_hidden = (struct fact_hidden){ 800 * MS, 200 * MS, 800 * MS };
	bed_judge(&bed);
	bed_expect(&bed, "WAIT-01", "n1:rank3", VERDICT_FAIL);
	bed_expect(&bed, "WAIT-02", "n1:rank3", VERDICT_UNKNOWN);
	bed_expect(&bed, "WAIT-03", "job", VERDICT_UNKNOWN);
	bed_end(&bed);
}

static void information_fails_no_node(void **state)
{
	struct bed bed;

	(void)state;
	begin_by(&bed, SPEC "rules: { PATH-11: { severity: off } }\n");
	waits(&bed, WAIT_LATE_SENDER, 1, 3, 3, 400 * MS, 400 * MS);
	bed_judge(&bed);
	bed_expect(&bed, "WAIT-01", "n1:rank3", VERDICT_FAIL);
	assert_int_equal(judge_status(bed.judge, false), 0);
	assert_int_equal(judge_summary(bed.judge).failed_nodes, 0);
	bed_end(&bed);
}

/* Rules that are for information alone decide nothing, known or not. */
static void information_leaves_the_status(void **state)
{
	struct judge_summary known[2];
	struct bed bed;
	int status[2];

	(void)state;
	for (int hidden = 0; hidden < 2; hidden++) {
		begin(&bed);
		bed.totals.waits_hidden.waits = hidden ? 500 * MS : 0;
		bed_judge(&bed);
		bed_expect(&bed, "WAIT-01", "n1:rank3", hidden ? VERDICT_UNKNOWN : VERDICT_PASS);
		status[hidden] = judge_status(bed.judge, false);
		known[hidden] = judge_summary(bed.judge);
		bed_end(&bed);
	}
	assert_int_equal(status[0], status[1]);
	assert_int_not_equal(status[0], 3);
	assert_int_equal(known[0].unknown, known[1].unknown);
	assert_true(known[1].info > known[0].info);
}

/* It hung before the attach: its call is in no record. */
static void in_a_call_since_before_the_trace(void **state)
{
	struct bed bed;

	(void)state;
	bed_begin(&bed, SPEC);
	for (int rank = 0; rank < RANKS; rank++)
		fact_put(&bed.sink, FACT_LIFETIME,
			 &(struct fact_lifetime){ .process = rank, .until = 5 * MS + RUN });
	fact_put(&bed.sink, FACT_OPEN,
		 &(struct fact_open){ .process = 1,
				      .function = "MPI_Recv",
				      .peer = 3,
				      .since = 5 * MS,
				      .until = 5 * MS + RUN,
				      .bound = true,
				      .certain = true });
	bed_judge(&bed);
	bed_expect(&bed, "WAIT-01", "n0:rank1", VERDICT_UNKNOWN);
	bed_expect(&bed, "WAIT-02", "n0:rank1", VERDICT_UNKNOWN);
	bed_expect(&bed, "WAIT-03", "job", VERDICT_UNKNOWN);
	assert_string_equal(bed_finding(&bed, "WAIT-01", "n0:rank1")->why,
			    "calls have not returned, and their waits are in no sum");
	bed_end(&bed);
}

static void without_calls_there_is_nothing(void **state)
{
	struct bed bed;

	(void)state;
	bed_begin(&bed, SPEC);
	bed_judge(&bed);
	bed_expect(&bed, "WAIT-02", NULL, VERDICT_SKIP);
	bed_end(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_straggler_at_the_end_of_a_chain),
		cmocka_unit_test(less_than_a_tenth),
		cmocka_unit_test(late_progress_is_its_own),
		cmocka_unit_test(imbalance_shows_in_collectives),
		cmocka_unit_test(without_messages_nothing_is_known),
		cmocka_unit_test(what_is_not_known_may_be_too_much),
		cmocka_unit_test(information_fails_no_node),
		cmocka_unit_test(information_leaves_the_status),
		cmocka_unit_test(in_a_call_since_before_the_trace),
		cmocka_unit_test(without_calls_there_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
