// SPDX-License-Identifier: BSD-3-Clause
/* Rules about the evidence itself, what they do to others, waivers, exit status. */
#include <errno.h>

#include "site/inventory/internal.h"
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

/* What is missing of one node leaves the others as they are, but for what is said of all. */
static void loss_of_one_node(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	bed_move(&bed, &(struct moved){ 2, 3, .bytes = 8 });
	bed_move(&bed, &(struct moved){ 0, 2, .bytes = 8 });
	bed_move(&bed, &(struct moved){ 2, 0, .bytes = 8 });
	bed.totals.dropped[0] = (struct fact_reason){ "ring full", 3 };
	/* what told of losses was lost as well: no data */
	bed.totals.dropped[1] = (struct fact_reason){ "notices of losses", 2 };
	judge_loss(bed.judge, &(struct judge_loss){ .node = "n1", .records = 3 });
	bed_judge(&bed);
	bed_expect(&bed, "COV-01", "n1", VERDICT_FAIL);
	assert_int_equal(bed_finding(&bed, "COV-01", "n1")->count, 3);
	assert_int_equal(judge_summary(bed.judge).critical, 1);
	bed_expect(&bed, "COV-04", "all captures", VERDICT_UNKNOWN);
	bed_expect(&bed, "PATH-03", "n0", VERDICT_PASS);
	bed_expect(&bed, "PATH-03", "n1", VERDICT_UNKNOWN);
	bed_expect(&bed, "PATH-12", "n0<>n1", VERDICT_UNKNOWN);
	assert_int_equal(judge_status(bed.judge, false), 2);
	bed_end(&bed);
}

/* The policy that is learnt; the caller's. error: of judge_learn(). */
static char *learnt(struct bed *bed, int error)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(judge_learn(bed->judge, out), error);
	fclose(out);
	return text;
}

/* No record was lost, but the traffic of other layers, or other times, is not known. */
static void learnt_without_transfers(void **state)
{
	struct bed bed;

	(void)state;
	for (int i = 0; i < 3; i++) {
		begin(&bed, SPEC);
		if (i < 2)
			bed_move(&bed, &(struct moved){ 0, 2, .bytes = 8 });
		else
			bed.totals.self.levels[LEVEL_MPI] = true;
		if (i < 2)
			judge_loss(bed.judge, &(struct judge_loss){ .node = "n1",
								    .records = i ? 3 : 0,
								    .windows = 2 });
		bed_judge(&bed);
		free(learnt(&bed, i == 1 ? -EBADMSG : -ENOTSUP));
		bed_end(&bed);
	}
}

/* A policy that is learnt holds for all nodes, and one way's surplus may be lost of the other one.
 */
static void by_what_was_lost(void **state)
{
	struct bed bed;

	(void)state;
	for (int lost = 0; lost < 2; lost++) {
		begin(&bed, SPEC);
		bed_move(&bed, &(struct moved){ 0, 2, .bytes = 8 });
		bed_move(&bed, &(struct moved){ 2, 0, "tcp", "eth0", .bytes = 8 });
		if (lost)
			judge_loss(bed.judge, &(struct judge_loss){ .node = "n1", .records = 3 });
		bed_judge(&bed);
		bed_expect(&bed, "PATH-12", "n0<>n1", lost ? VERDICT_UNKNOWN : VERDICT_FAIL);
		free(learnt(&bed, lost ? -EBADMSG : 0));
		bed_end(&bed);
	}
}

/* Of a UCX that has more transports than those of policies: the policy can be read. */
static void learnt_of_another_ucx(void **state)
{
	char *text;
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	bed_move(&bed, &(struct moved){ 0, 2, "fast_verbs", "eth0", .bytes = 8 });
	bed_judge(&bed);
	text = learnt(&bed, 0);
	assert_non_null(strstr(text, "\ntransports: [fast_verbs]\n"));
	assert_non_null(strstr(text, "tl: [fast_verbs]"));
	bed_end(&bed);
	begin(&bed, text);
	bed_end(&bed);
	free(text);
}

/* Each of them has its share. */
static void learnt_of_many_transports(void **state)
{
	static char names[9][16];
	char *text;
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	for (int i = 0; i < 9; i++) {
		char *name = names[i];

		snprintf(name, sizeof(names[i]), "fast_%d", i);
		bed_move(&bed, &(struct moved){ 0, 2, name, "eth0", .bytes = 8 });
	}
	bed_judge(&bed);
	text = learnt(&bed, 0);
	assert_non_null(strstr(text, "tl: [fast_0, fast_1, fast_2, fast_3, fast_4, fast_5, fast_6, "
				     "fast_7, fast_8]"));
	free(text);
	bed_end(&bed);
}

static void damage_of_one_node(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	bed_move(&bed, &(struct moved){ 2, 3, .bytes = 8 });
	bed.totals.dropped[0] = (struct fact_reason){ "not in the file", 5 };
	bed.totals.damaged_bytes = 7;
	judge_loss(bed.judge,
		   &(struct judge_loss){ .node = "n0", .missing = 5, .bytes = 7, .files = 1 });
	bed_judge(&bed);
	bed_expect(&bed, "COV-01", "n0", VERDICT_UNKNOWN);
	bed_expect(&bed, "PATH-03", "n0", VERDICT_UNKNOWN);
	bed_expect(&bed, "PATH-03", "n1", VERDICT_PASS);
	assert_int_equal(judge_status(bed.judge, false), 3);
	bed_end(&bed);
}

/* Of what was never recorded nobody knows which way it went. */
static void hits_of_one_node(void **state)
{
	struct bed bed;

	(void)state;
	for (int files = 0; files < 2; files++) {
		begin(&bed, SPEC);
		bed_move(&bed, &(struct moved){ 2, 3, .bytes = 8 });
		judge_loss(bed.judge,
			   &(struct judge_loss){ .node = "n0", .hits = 2, .files = files });
		bed_judge(&bed);
		bed_expect(&bed, "COV-01", "n0", VERDICT_UNKNOWN);
		assert_string_equal(
			bed_finding(&bed, "COV-01", "n0")->why,
			files ? "1 of its files are cut short, damaged or cannot be read; 2 probe "
				"hits could not be recorded for lack of memory"
			      : "2 probe hits could not be recorded for lack of memory");
		bed_expect(&bed, "PATH-03", "n0", VERDICT_UNKNOWN);
		bed_expect(&bed, "PATH-03", "n1", VERDICT_PASS);
		bed_end(&bed);
	}

	begin(&bed, SPEC);
	judge_loss(bed.judge, &(struct judge_loss){ .hits = 1 });
	bed_judge(&bed);
	bed_expect(&bed, "COV-01", NULL, VERDICT_UNKNOWN);
	bed_end(&bed);
}

/* Nothing found no room, but not all was recorded: a choice of the tracer's is no fault. */
static void recorded_in_part(void **state)
{
	static const struct judge_loss cases[] = {
		{ .node = "n0", .thinned = 8123456 },
		{ .node = "n0", .windows = 12 },
	};
	struct bed bed;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		begin(&bed, SPEC);
		bed_move(&bed, &(struct moved){ 2, 3, .bytes = 8 });
		if (cases[i].thinned)
			bed.totals.dropped[0] =
				(struct fact_reason){ "detail thinned", cases[i].thinned };
		judge_loss(bed.judge, &cases[i]);
		bed_judge(&bed);
		bed_expect(&bed, "COV-01", "n0", VERDICT_UNKNOWN);
		assert_int_equal(judge_summary(bed.judge).critical, 0);
		bed_expect(&bed, "PATH-03", "n0", VERDICT_UNKNOWN);
		bed_expect(&bed, "PATH-03", "n1", VERDICT_PASS);
		bed_end(&bed);
	}
}

/* All was recorded, but not always: what was seen is judged, what was not may be anything. */
static void recorded_in_windows(void **state)
{
	static const struct judge_loss cases[] = {
		{ .node = "n0", .spans = 5 },
		{ .node = "n0", .spans = 5, .windows = 3 }, /* and fewer layers meanwhile */
		{ .node = "n0", .spans = 5, .records = 1 },
		{ .node = "n0", .spans = 5, .thinned = 1 },
	};
	struct bed bed;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		enum verdict seen = i < 2 ? VERDICT_PASS : VERDICT_UNKNOWN;

		begin(&bed, SPEC);
		bed_move(&bed, &(struct moved){ 0, 2, .bytes = 8 });
		bed_move(&bed, &(struct moved){ 2, 3, .bytes = 8 });
		judge_loss(bed.judge, &cases[i]);
		bed_judge(&bed);
		bed_expect(&bed, "COV-01", "n0", cases[i].records ? VERDICT_FAIL : VERDICT_UNKNOWN);
		bed_expect(&bed, "PATH-03", "n0", seen);
		bed_expect(&bed, "PATH-03", "n1", VERDICT_PASS);
		assert_non_null(strstr(finding_of(bed.judge, "PATH-03", "n0")->why,
				       i < 2 ? "as far as windows of n0 saw" : "is missing"));
		assert_null(finding_of(bed.judge, "PATH-03", "n1")->why);
		/* that no end is missing is about all of the time */
		bed_expect(&bed, "COV-04", "all captures", VERDICT_UNKNOWN);
		bed_end(&bed);
	}
}

/* Of two jobs of a node one has windows with all layers: they show nothing of the other one. */
static void windows_of_two_captures(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	judge_loss(bed.judge, &(struct judge_loss){ .node = "n0", .spans = 5 });
	judge_loss(bed.judge, &(struct judge_loss){ .node = "n0", .windows = 2 });
	bed_judge(&bed);
	bed_expect(&bed, "PATH-03", "n0", VERDICT_UNKNOWN);
	bed_end(&bed);
}

/* Which node it recorded in windows, a capture without a host's name does not tell. */
static void windows_of_nobody_knows_whom(void **state)
{
	static const struct judge_loss cases[] = { { .spans = 5 }, { .windows = 5 } };
	struct bed bed;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		begin(&bed, SPEC);
		judge_loss(bed.judge, &cases[i]);
		bed_judge(&bed);
		bed_expect(&bed, "COV-01", NULL, VERDICT_UNKNOWN);
		bed_expect(&bed, "PATH-03", "n0", VERDICT_UNKNOWN);
		bed_end(&bed);
	}
}

/* More is lost than any node tells of. */
static void loss_of_nobody_knows_whom(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	bed.totals.dropped[0] = (struct fact_reason){ "ring full", 5 };
	judge_loss(bed.judge, &(struct judge_loss){ .node = "n1", .records = 3 });
	bed_judge(&bed);
	bed_expect(&bed, "COV-01", "all captures", VERDICT_FAIL);
	assert_int_equal(bed_finding(&bed, "COV-01", "all captures")->count, 2);
	bed_expect(&bed, "PATH-03", "n0", VERDICT_UNKNOWN);
	bed_end(&bed);

	begin(&bed, SPEC);
	judge_loss(bed.judge, &(struct judge_loss){ .files = 1 });
	bed_judge(&bed);
	bed_expect(&bed, "COV-01", NULL, VERDICT_UNKNOWN);
	bed_expect(&bed, "PATH-03", "n0", VERDICT_UNKNOWN);
	bed_end(&bed);
}

/* What is lost is lost, whether the policy wants to hear of it or not. */
static void loss_that_is_not_told(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC "rules: { COV-01: { severity: off } }\n");
	bed.totals.dropped[0] = (struct fact_reason){ "ring full", 1 };
	bed_judge(&bed);
	bed_expect(&bed, "COV-01", NULL, VERDICT_SKIP);
	bed_expect(&bed, "PATH-03", "n0", VERDICT_UNKNOWN);
	bed_end(&bed);
}

/* Of the files that were given one cannot be read, and no other one is a capture. */
static void nothing_but_an_inventory(void **state)
{
	for (int broken = 0; broken < 2; broken++) {
		struct policy *policy = policy_default();
		struct judge *judge = judge_new(policy);
		struct inventory *inventory = inventory_new();

		(void)state;
		inventory->host = strdup("n0");
		inventory->boot_id = strdup("n0");
		judge_inventory(judge, inventory);
		if (broken)
			judge_captures_broken(judge);
		judge_finish(judge, &(struct fact_totals){ 0 }, 0);
		assert_int_equal(finding_of(judge, "COV-01", NULL)->verdict,
				 broken ? VERDICT_UNKNOWN : VERDICT_SKIP);
		assert_int_equal(judge_status(judge, false), broken ? 3 : 0);
		judge_free(judge);
		inventory_free(inventory);
		policy_free(policy);
	}
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
	assert_non_null(strstr(bed_finding(&bed, "COV-04", NULL)->seen,
			       " ends of messages have no other end; sends: in flight at end 3"));
	assert_string_equal(bed_finding(&bed, "COV-04", NULL)->expected,
			    "a receive for every send, but for 1 % of the ends (share)");
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
			    "Open MPI 4.1.4 UCX 1.1, Open MPI 4.1.4 UCX 1.13.1");
	bed_end(&bed);
}

/* Two programs on each node, of which now the one has the lower pid, now the other one. */
static void software_of_two_programs(void **state)
{
	struct bed bed;

	(void)state;
	begin(&bed, SPEC);
	for (int rank = 1; rank < 3; rank++) {
		bed.ucx[rank][0].build_id = "b2";
		bed.ucx[rank][0].version = "1.15.0";
		bed_rank(&bed, rank, 1);
	}
	bed_judge(&bed);
	for (int node = 0; node < 2; node++) {
		bed_expect(&bed, "COV-06", node_names[node], VERDICT_PASS);
		bed_expect(&bed, "CFG-01", node_names[node], VERDICT_PASS);
	}
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

	/* a budget allowed MPI calls alone */
	begin(&bed, SPEC);
	bed_call(&bed, 3, "MPI_Allreduce");
	judge_loss(bed.judge, &(struct judge_loss){ .node = "n1", .windows = 1 });
	bed_judge(&bed);
	bed_expect(&bed, "PATH-11", "n1:rank3", VERDICT_UNKNOWN);
	bed_end(&bed);

	/* its operations may be between windows */
	begin(&bed, SPEC);
	bed_call(&bed, 3, "MPI_Allreduce");
	judge_loss(bed.judge, &(struct judge_loss){ .node = "n1", .spans = 4 });
	bed_judge(&bed);
	bed_expect(&bed, "PATH-11", "n1:rank3", VERDICT_UNKNOWN);
	bed_end(&bed);

	/* that is of no job has no rank */
	begin(&bed, SPEC);
	fact_put(&bed.sink, FACT_PROCESS,
		 &(struct fact_process){ .index = 3,
					 .host = 1,
					 .host_id = "n1",
					 .host_name = "n1",
					 .pid = 77,
					 .rank = -1,
					 .size = -1 });
	bed_call(&bed, 3, "MPI_Allreduce");
	bed_judge(&bed);
	bed_expect(&bed, "PATH-11", "n1:pid77", VERDICT_FAIL);
	bed_end(&bed);
}

/* Without operations in the captures, or anybody to send to, there is nothing to be said. */
static void calls_alone(void **state)
{
	static const struct {
		int level;
		enum verdict verdict;
	} cases[] = { { 0, VERDICT_SKIP }, { 1, VERDICT_FAIL }, { 2, VERDICT_FAIL } };
	struct bed bed;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bed_begin(&bed, SPEC);
		bed_call(&bed, 3, "MPI_Allreduce");
		bed.totals.self.known = 1;
		bed.totals.self.levels[cases[i].level] = true;
		bed_judge(&bed);
		bed_expect(&bed, "PATH-11", cases[i].level ? "n1:rank3" : NULL, cases[i].verdict);
		bed_end(&bed);
	}
	bed_begin(&bed, SPEC);
	fact_put(&bed.sink, FACT_PROCESS,
		 &(struct fact_process){
			 .index = 0, .host_id = "n0", .host_name = "n0", .size = 1 });
	bed_call(&bed, 0, "MPI_Allreduce");
	bed_judge(&bed);
	bed_expect(&bed, "PATH-11", NULL, VERDICT_SKIP);
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
		cmocka_unit_test(software_of_two_programs),
		cmocka_unit_test(mpi_without_ucx),
		cmocka_unit_test(calls_alone),
		cmocka_unit_test(learnt_without_transfers),
		cmocka_unit_test(waivers),
		cmocka_unit_test(switched_off),
		cmocka_unit_test(warnings_alone),
		cmocka_unit_test(every_rule_speaks),
		cmocka_unit_test(broken_captures),
		cmocka_unit_test(loss_of_one_node),
		cmocka_unit_test(by_what_was_lost),
		cmocka_unit_test(learnt_of_another_ucx),
		cmocka_unit_test(learnt_of_many_transports),
		cmocka_unit_test(damage_of_one_node),
		cmocka_unit_test(hits_of_one_node),
		cmocka_unit_test(recorded_in_part),
		cmocka_unit_test(recorded_in_windows),
		cmocka_unit_test(windows_of_two_captures),
		cmocka_unit_test(windows_of_nobody_knows_whom),
		cmocka_unit_test(loss_of_nobody_knows_whom),
		cmocka_unit_test(loss_that_is_not_told),
		cmocka_unit_test(nothing_but_an_inventory),
		cmocka_unit_test(nothing_captured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
