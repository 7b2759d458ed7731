// SPDX-License-Identifier: BSD-3-Clause
/* COV-03: what was planned, in ledgers and captures; who is to blame, and who is not. */
#include <signal.h>

#include "sweep_bed.h"

static void as_planned(void **state)
{
	struct sweep_bed bed;

	(void)state;
	sweep_begin_four(&bed);
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
	sweep_begin_four(&bed);
	bed.untraced = one_of_n1;
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-03", "n0", VERDICT_PASS, NULL);
	sweep_expect(&bed, "COV-03", "n1", VERDICT_FAIL, "rank 2 sent ");
	sweep_expect(&bed, "COV-03", "n2", VERDICT_FAIL, "from rank 2 of n1");
	sweep_expect(&bed, "COV-03", "n3", VERDICT_PASS, NULL);
	sweep_end(&bed);

	/* where records were lost, that may be why */
	sweep_begin_four(&bed);
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
	sweep_begin_four(&bed);
	bed.no_capture[2] = true;
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-03", "n1", VERDICT_FAIL, "rank 2 (pid 102) was not traced");
	sweep_expect(&bed, "COV-03", "n0", VERDICT_PASS, NULL);
	sweep_end(&bed);

	/* no capture of the node: nobody knows */
	sweep_begin_four(&bed);
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
	sweep_begin_four(&bed);
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
	sweep_begin_four(&bed);
	bed.no_ledger[7] = true;
	bed.leave_out = without_last_rank;
	sweep_run(&bed, false);
	sweep_expect(&bed, "COV-03", "n3", VERDICT_FAIL, "1 of 2 ranks");
	sweep_end(&bed);
}

/* MPI waits for the rank, so that none writes anything. */
static void missing_rank_and_no_ledgers(void **state)
{
	struct sweep_bed bed;

	(void)state;
	sweep_begin_four(&bed);
	for (int rank = 0; rank < 8; rank++)
		bed.no_ledger[rank] = true;
	bed.no_capture[7] = true;
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-03", "n3", VERDICT_FAIL,
		     "1 of 2 ranks were started, and MPI on no node");
	sweep_end(&bed);

	/* all are there */
	sweep_begin_four(&bed);
	for (int rank = 0; rank < 8; rank++)
		bed.no_ledger[rank] = true;
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-03", "all nodes", VERDICT_UNKNOWN, "no ledger of this plan");
	sweep_end(&bed);
}

static void transfer(struct sweep_bed *bed, int from, int to)
{
	fact_put(&bed->sink, FACT_TRANSFER,
		 &(struct fact_transfer){ .process = from,
					  .peer = to,
					  .op = "am_zcopy",
					  .transport = "tcp",
					  .device = "eth0",
					  .locality = to < 0 ? LOCALITY_UNKNOWN : LOCALITY_REMOTE,
					  .kind = KIND_DATA,
					  .bytes = 1000 });
}

static void to_each_other_and_elsewhere(struct sweep_bed *bed)
{
	transfer(bed, 0, 2);
	transfer(bed, 2, 0);
	transfer(bed, 0, -1);
	transfer(bed, 2, -1);
}

/* What two nodes sent to each other is there with both ends: the third one is not known. */
static void untraced_node(void **state)
{
	struct sweep_bed bed;

	(void)state;
	sweep_begin_four(&bed);
	bed.no_capture[6] = bed.no_capture[7] = true;
	bed.also = to_each_other_and_elsewhere;
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-04", "n3", VERDICT_UNKNOWN,
		     "2 of its ranks are in no capture: 2,000 B of other nodes have only one end");
	sweep_expect(&bed, "PATH-12", "n0<>n1", VERDICT_PASS, NULL);
	sweep_end(&bed);

	/* all ranks are traced, and yet some bytes go who knows where */
	sweep_begin_four(&bed);
	bed.also = to_each_other_and_elsewhere;
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-04", "n0", VERDICT_UNKNOWN,
		     "1,000 B of 2,000 B go to or come from");
	sweep_expect(&bed, "PATH-12", "n0<>n1", VERDICT_UNKNOWN, "no capture (COV-04)");
	sweep_end(&bed);
}

/*
 * Ledgers that end as a rank begins such a round of times: whether the entry is behind that; *last:
 * it is the one.
 */
static bool is_cut(const struct ledger_entry *entry, unsigned int round, bool *last)
{
	static bool ranks[8];
	bool *over = &ranks[entry->rank];

	*last = false;
	if (entry->kind == LEDGER_BEGIN && !entry->round && entry->stage == STAGE_INTRA)
		*over = false;
	if (*over)
		return true;
	*last = entry->stage == STAGE_TIME && entry->round == round && entry->kind == LEDGER_BEGIN;
	*over = *last;
	return false;
}

/* Rank 2 says nothing any more in the second round of times; its partner waits for it, others too.
 */
static bool rank_2_hangs(struct ledger_entry *entry)
{
	bool last, cut = is_cut(entry, 1, &last);

	if (last && entry->rank != 2)
		entry->kind = LEDGER_STUCK;
	return cut;
}

static void hung_rank(void **state)
{
	struct sweep_bed bed;

	(void)state;
	sweep_begin_four(&bed);
	bed.leave_out = rank_2_hangs;
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-03", "n1", VERDICT_FAIL,
		     "rank 2 of n1 hangs or has died, in round 1 of stage time");
	sweep_expect(&bed, "COV-03", "n0", VERDICT_UNKNOWN, "rank 2 of n1 hangs");
	sweep_expect(&bed, "COV-03", "n3", VERDICT_UNKNOWN, "rank 2 of n1 hangs");
	sweep_end(&bed);
}

#define SECOND 1000000000ull

/* A rank waits for a message, until it is ended. */
static void waits_for(struct sweep_bed *bed, int rank, uint64_t seconds)
{
	const uint64_t call = 1000000 + rank;

	fact_put(&bed->sink, FACT_CALL,
		 &(struct fact_call){ .id = call,
				      .process = rank,
				      .function = "MPI_Wait",
				      .tid = 7,
				      .start = SECOND });
	fact_put(&bed->sink, FACT_OP,
		 &(struct fact_op){ .id = 2000000 + rank,
				    .call = call,
				    .process = rank,
				    .peer = -1,
				    .op = "tag_recv",
				    .function = "MPI_Wait",
				    .tid = 7,
				    .start = SECOND });
	fact_put(&bed->sink, FACT_LIFETIME,
		 &(struct fact_lifetime){ .process = rank, .until = (1 + seconds) * SECOND });
}

static void waits(struct sweep_bed *bed, int rank)
{
	waits_for(bed, rank, 20);
}

static void rank_0_waits(struct sweep_bed *bed)
{
	waits(bed, 0);
}

static void ranks_0_and_2_wait(struct sweep_bed *bed)
{
	waits(bed, 0);
	waits(bed, 2);
}

/* Rank 2 was stopped between two operations, or within one: it is named, who waits for it is not.
 */
static void waiting_for_a_hung_rank(void **state)
{
	static void (*const also[])(struct sweep_bed * bed) = { rank_0_waits, ranks_0_and_2_wait };
	static const char *const seen[] = {
		"it did not run when its time limit was reached: it hangs or has died",
		"tag_recv in MPI_Wait: open for 20.0 s, nothing else for the last 20.0 s",
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct sweep_bed bed;

		sweep_begin_four(&bed);
		bed.leave_out = rank_2_hangs;
		bed.also = also[i];
		sweep_run(&bed, true);
		sweep_expect(&bed, "COV-04", "n1:rank2", VERDICT_FAIL, seen[i]);
		sweep_expect(&bed, "COV-04", "n0:rank0", VERDICT_UNKNOWN,
			     "it ran, and waited: rank 2 of n1 does not continue");
		sweep_end(&bed);
	}
}

/* Ledgers blame nobody: a rank whose operation never ends is all that is known. */
static void waiting_for_nobody(void **state)
{
	struct sweep_bed bed;

	(void)state;
	sweep_begin_four(&bed);
	bed.also = rank_0_waits;
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-04", "n0:rank0", VERDICT_FAIL, "tag_recv in MPI_Wait");
	sweep_end(&bed);
}

/* No rank comes to its end, and none says that it waits. */
static bool stopped_early(struct ledger_entry *entry)
{
	return entry->kind == LEDGER_END;
}

/* A job that was only slow: who waits for its turn when it is stopped does not hang. */
static void waiting_in_a_slow_job(void **state)
{
	struct sweep_bed bed;

	(void)state;
	sweep_begin_four(&bed);
	bed.leave_out = stopped_early;
	bed.also = rank_0_waits;
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-04", "n0:rank0", VERDICT_UNKNOWN, "it may only be slow (COV-03)");
	sweep_expect(&bed, "COV-03", "n0", VERDICT_UNKNOWN, "rank 0 did not come to its end");
	sweep_end(&bed);
}

static bool all_ended(struct ledger_entry *entry)
{
	bool left_out = rank_2_hangs(entry);

	if (!left_out && entry->stage == STAGE_TIME && entry->round == 1 &&
	    entry->kind != LEDGER_TRANSFER) {
		entry->kind = LEDGER_STUCK;
		entry->by_signal = true;
	}
	return left_out;
}

/* Ctrl-C: every rank says where it was; none is to blame. */
static void ended_by_somebody(void **state)
{
	struct sweep_bed bed;

	(void)state;
	sweep_begin_four(&bed);
	bed.leave_out = all_ended;
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-03", "n0", VERDICT_UNKNOWN, "the job was ended");
	sweep_expect(&bed, "COV-03", "n1", VERDICT_UNKNOWN, "the job was ended");
	sweep_end(&bed);
}

static enum plan_ender ender;

static bool all_ended_by(struct ledger_entry *entry)
{
	bool left_out = all_ended(entry);

	entry->ender = ender;
	return left_out;
}

/* The sweep's own limit or its Ctrl-C, which it tells the ranks. */
static void ended_by_the_sweep(void **state)
{
	static const char *const texts[PLAN_ENDERS] = {
		"rank 6 did not come to its end: the job was ended for an unknown reason",
		"rank 6 did not come to its end: the sweep stopped the job at its time limit: "
		"allow more time with --limit, or send less with --max-size or --ranks",
		"rank 6 did not come to its end: the sweep was interrupted, and stopped the job",
	};

	(void)state;
	for (int i = 0; i < PLAN_ENDERS; i++) {
		struct sweep_bed bed;

		sweep_begin_four(&bed);
		ender = i;
		bed.leave_out = all_ended_by;
		sweep_run(&bed, true);
		sweep_expect(&bed, "COV-03", "n3", VERDICT_UNKNOWN, texts[i]);
		sweep_end(&bed);
	}
}

/* All ranks run, and their round takes longer than it may, since n0 and n1 are slow together. */
static bool slow_round(struct ledger_entry *entry)
{
	bool left_out = rank_2_hangs(entry);

	if (left_out || entry->stage != STAGE_TIME || entry->round != 1 ||
	    entry->kind == LEDGER_TRANSFER)
		return left_out;
	entry->kind = LEDGER_STUCK;
	if (entry->rank == 0 || entry->rank == 2) {
		entry->src = "n0";
		entry->dst = "n1";
		entry->msg_size = 1024;
	}
	return false;
}

static uint64_t waited;

static void ranks_0_and_7_wait(struct sweep_bed *bed)
{
	waits_for(bed, 0, waited);
	waits_for(bed, 7, waited);
}

/* 8 s of them are those in which it does nothing any more, since its time is over. */
static void stuck_in_a_slow_round(void **state)
{
	(void)state;
	for (waited = 12; waited <= 13; waited++) {
		struct sweep_bed bed;

		sweep_begin_four(&bed);
		bed.leave_out = slow_round;
		bed.also = ranks_0_and_7_wait;
		sweep_run(&bed, true);
		sweep_expect(&bed, "COV-04", "n0:rank0",
			     waited < 13 ? VERDICT_UNKNOWN : VERDICT_FAIL,
			     waited < 13 ? "it may only be slow (COV-03)" : "open for 13.0 s");
		sweep_expect(&bed, "COV-04", "n3:rank7", VERDICT_UNKNOWN,
			     "waited for others, whose round exceeded its time limit");
		sweep_end(&bed);
	}
}

static void a_slow_round(void **state)
{
	static const char text[] =
		"p2p of 1024 B from n0 to n1 in round 1 of stage time did not end "
		"within a round's time limit, and may only be slow: allow more time with --limit";
	struct sweep_bed bed;

	(void)state;
	sweep_begin_four(&bed);
	bed.leave_out = slow_round;
	sweep_run(&bed, true);
	for (int i = 0; i < 8; i += 2)
		sweep_expect(&bed, "COV-03", sweep_node(&bed, i), VERDICT_UNKNOWN, text);
	sweep_end(&bed);
}

/* Ranks 2 and 5 of n1 and n2; rank 5 came less far. */
static bool two_hang(struct ledger_entry *entry)
{
	bool last, cut = is_cut(entry, entry->rank != 5, &last);

	if (last && entry->rank != 2 && entry->rank != 5)
		entry->kind = LEDGER_STUCK;
	return cut;
}

/* In whatever order their ledgers come. */
static void two_hung_ranks(void **state)
{
	(void)state;
	for (int shuffle = 0; shuffle < 3; shuffle++) {
		static const int first[] = { 0, 5, 7 }, step[] = { 1, 3, -1 };
		struct sweep_bed bed;

		sweep_begin_four(&bed);
		bed.leave_out = two_hang;
		for (int i = 0; i < 8; i++)
			sweep_ledger(&bed, (first[shuffle] + i * step[shuffle] + 8) % 8, false);
		judge_finish(bed.judge, &bed.totals, 20000);
		sweep_expect(
			&bed, "COV-03", "n0", VERDICT_UNKNOWN,
			"rank 0 did not come to its end: rank 2 of n1, rank 5 of n2 hang or have "
			"died");
		sweep_expect(&bed, "COV-03", "n1", VERDICT_FAIL,
			     "rank 2 of n1 hangs or has died, in round 1 of stage time");
		sweep_expect(&bed, "COV-03", "n2", VERDICT_FAIL,
			     "rank 5 of n2 hangs or has died, in round 0 of stage time");
		sweep_end(&bed);
	}
}

/* ---- ranks that fell silent, and how captures say that they ended ---- */

/* Ranks 1 and 5 write nothing of their end; the others that the job was ended, unless none does. */
static bool others_told;

static bool ranks_1_and_5_silent(struct ledger_entry *entry)
{
	bool last, cut = is_cut(entry, 1, &last);

	if (last && entry->rank != 1 && entry->rank != 5 && others_told) {
		entry->kind = LEDGER_STUCK;
		entry->by_signal = true;
	}
	return cut;
}

static void ended(struct sweep_bed *bed, int rank, uint32_t signal, uint64_t until)
{
	fact_put(&bed->sink, FACT_LIFETIME,
		 &(struct fact_lifetime){
			 .process = rank,
			 .until = until,
			 .exited = true,
			 .exit_status = signal ? -1 : 1,
			 .exit_signal = signal,
		 });
}

struct silence {
	bool told; /* the others say that they were ended */
	uint32_t first, fifth; /* signals that ended ranks 1 and 5, 0: they ended by themselves */
	int fifth_is; /* its rank, as its capture has it */
	uint64_t fifth_until; /* others end after 21 s */
	const char *of_0, *of_2; /* what is said of n0 and n2; NULL: they are not to blame */
};

#define LAST (21 * SECOND)

static const struct silence silences[] = {
	{ true, 0, SIGABRT, 5, LAST, NULL,
	  "rank 5 of n2 has died of signal 6 (SIGABRT), in round 1" },
	{ true, SIGKILL, SIGSEGV, 5, LAST, NULL,
	  "rank 5 of n2 has died of signal 11 (SIGSEGV), in" },
	{ false, SIGTERM, SIGBUS, 5, LAST, NULL, "rank 5 of n2 has died of signal 7 (SIGBUS), in" },
	{ true, SIGFPE, SIGABRT, 5, LAST, "rank 1 of n0 has died of signal 8 (SIGFPE), in round 1",
	  "rank 5 of n2 has died of signal 6 (SIGABRT), in round 1" },
	/* a launcher sends that to all, but not so early */
	{ true, SIGKILL, SIGKILL, 5, LAST - SECOND, NULL,
	  "rank 5 of n2 has died of signal 9 (SIGKILL)" },
	/* who was ended first is not known, or that is another process of the same pid */
	{ true, 0, SIGKILL, 5, LAST, "rank 1 of n0 hangs or has died",
	  "rank 5 of n2 hangs or has died" },
	{ true, SIGKILL, SIGKILL, 5, LAST - SECOND / 4, "rank 1 of n0 hangs or has died",
	  "rank 5 of n2 hangs or has died" },
	{ true, 0, SIGABRT, 4, LAST, "rank 1 of n0 hangs or has died",
	  "rank 5 of n2 hangs or has died" },
};

static void traced_processes(struct sweep_bed *bed, int fifth_is)
{
	for (int rank = 0; rank < 8; rank++)
		fact_put(&bed->sink, FACT_PROCESS,
			 &(struct fact_process){ .index = rank,
						 .host = rank / 2,
						 .host_id = sweep_node(bed, rank),
						 .host_name = sweep_node(bed, rank),
						 .pid = 100 + rank,
						 .tgid = 100 + rank,
						 .rank = rank == 5 ? fifth_is : rank,
						 .size = 8 });
}

static void silent_ranks(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * sizeof(silences) / sizeof(*silences); i++) {
		const struct silence *of = &silences[i / 2];
		struct sweep_bed bed;

		sweep_begin_four(&bed);
		others_told = of->told;
		bed.leave_out = ranks_1_and_5_silent;
		traced_processes(&bed, of->fifth_is);
		for (int rank = 0; rank < 8; rank++)
			sweep_ledger(&bed, rank, false);
		waits(&bed, 0);
		waits(&bed, 1);
		ended(&bed, 0, 0, LAST);
		ended(&bed, 4, 0, LAST);
		ended(&bed, 1, of->first, LAST);
		ended(&bed, 5, of->fifth, of->fifth_until);
		if (i % 2)
			sweep_by_evidence(&bed);
		judge_finish(bed.judge, i % 2 ? &(struct fact_totals){ 0 } : &bed.totals, 20000);
		sweep_expect(&bed, "COV-03", "n0", of->of_0 ? VERDICT_FAIL : VERDICT_UNKNOWN,
			     of->of_0 ? of->of_0 : of->of_2);
		sweep_expect(&bed, "COV-03", "n2", VERDICT_FAIL, of->of_2);
		sweep_expect(&bed, "COV-03", "n1", VERDICT_UNKNOWN,
			     "rank 2 did not come to its end");
		if (!of->of_0)
			sweep_expect(&bed, "COV-04", "n0:rank1", VERDICT_UNKNOWN,
				     "the job was ended: rank 5 of n2 has died of signal");
		sweep_end(&bed);
	}
}

/* Nobody waits for an operation of its own: it is named by those that wait for it. */
static void waiting_for_a_crashed_rank(void **state)
{
	struct sweep_bed bed;

	(void)state;
	sweep_begin_four(&bed);
	others_told = true;
	bed.leave_out = ranks_1_and_5_silent;
	traced_processes(&bed, 5);
	for (int rank = 0; rank < 8; rank++)
		sweep_ledger(&bed, rank, false);
	waits(&bed, 0);
	ended(&bed, 1, SIGKILL, LAST);
	ended(&bed, 5, SIGABRT, LAST);
	judge_finish(bed.judge, &bed.totals, 20000);
	sweep_expect(&bed, "COV-04", "n0:rank0", VERDICT_UNKNOWN,
		     "it ran, and waited: rank 5 of n2 does not continue");
	sweep_expect(&bed, "COV-04", "n2:rank5", VERDICT_FAIL, "it has died of signal 6 (SIGABRT)");
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
	sweep_begin_four(&bed);
	bed.leave_out = wrong_content;
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-03", "n3", VERDICT_FAIL, "arrived with other content");
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
	sweep_begin_four(&bed);
	bed.leave_out = one_line_missing;
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-03", "n0", VERDICT_FAIL,
		     "rank 0 recorded nothing about p2p of 8 B");
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
	sweep_begin_four(&bed);
	bed.leave_out = other_size;
	sweep_run(&bed, true);
	sweep_expect(&bed, "COV-03", "n0", VERDICT_FAIL, "recorded nothing about");
	sweep_end(&bed);
}

static void twice(void **state)
{
	struct sweep_bed bed;

	(void)state;
	sweep_begin_four(&bed);
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
	sweep_begin_four(&bed);
	judge_ledger(bed.judge, &head);
	judge_finish(bed.judge, &bed.totals, 20000);
	sweep_expect(&bed, "COV-03", "all nodes", VERDICT_UNKNOWN, "another plan");
	sweep_end(&bed);
}

/* A number that fits no plan is not taken at its word. */
static void ledger_of_no_part(void **state)
{
	struct sweep_bed bed;

	(void)state;
	for (int more = 0; more < 2; more++) {
		sweep_begin_four(&bed);
		judge_ledger(bed.judge, &(struct ledger_entry){ .kind = LEDGER_HEAD,
								.plan = bed.plan->id,
								.node = "n0",
								.host = "n0",
								.mpi = "MPI",
								.size = 1,
								.pid = 1,
								.part = more ? UINT32_MAX : 1 });
		judge_finish(bed.judge, &bed.totals, 20000);
		sweep_expect(&bed, "COV-03", "all nodes", VERDICT_UNKNOWN, "another plan");
		sweep_end(&bed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_planned),
		cmocka_unit_test(one_message_untraced),
		cmocka_unit_test(untraced_rank),
		cmocka_unit_test(dead_node),
		cmocka_unit_test(missing_rank),
		cmocka_unit_test(missing_rank_and_no_ledgers),
		cmocka_unit_test(untraced_node),
		cmocka_unit_test(hung_rank),
		cmocka_unit_test(waiting_for_a_hung_rank),
		cmocka_unit_test(waiting_for_nobody),
		cmocka_unit_test(waiting_in_a_slow_job),
		cmocka_unit_test(ended_by_somebody),
		cmocka_unit_test(ended_by_the_sweep),
		cmocka_unit_test(a_slow_round),
		cmocka_unit_test(stuck_in_a_slow_round),
		cmocka_unit_test(two_hung_ranks),
		cmocka_unit_test(silent_ranks),
		cmocka_unit_test(waiting_for_a_crashed_rank),
		cmocka_unit_test(content_changed),
		cmocka_unit_test(ledger_lacks_a_line),
		cmocka_unit_test(not_planned),
		cmocka_unit_test(twice),
		cmocka_unit_test(ledgers_of_another_plan),
		cmocka_unit_test(ledger_of_no_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
