/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cases of rules about where ranks, GPUs and NICs are: the inventories of two nodes, where ranks
 * may run, what moves, and what is said of it.
 */
#ifndef UCXBPF_JUDGE_PLACES_H
#define UCXBPF_JUDGE_PLACES_H

#include "judge_nodes.h"

#define MIB (1 << 20)
#define PLACE_CASES 32
#define CASE_RANKS 4
#define CASE_MOVES 5
#define CASE_EXPECTED 3

struct place_case {
	const char *name;
	const char *policy; /* behind SPEC; NULL: nothing */
	void (*make)(struct snapshots *nodes); /* the nodes' inventories */
	struct judge_loss loss; /* without a node: none */
	struct {
		int rank;
		const char *cpus; /* NULL: behind the last one */
	} cores[CASE_RANKS];
	struct {
		int from, to; /* both 0: behind the last one */
		const char *src_mem, *device;
		uint64_t bytes; /* 0: a MiB */
		const char *dst_mem, *op;
		bool sums;
	} moves[CASE_MOVES];
	struct place_expected {
		const char *rule; /* NULL: behind the last one */
		const char *subject;
		enum verdict verdict;
		const char *seen, *why; /* NULL: whatever it says */
		uint64_t count, bytes; /* 0: whatever it says */
		const char *severity; /* likewise */
	} expected[CASE_EXPECTED];
};

static inline void place_expect(const struct bed *bed, const struct place_expected *expected)
{
	const struct finding *finding;

	bed_expect(bed, expected->rule, expected->subject, expected->verdict);
	finding = bed_finding(bed, expected->rule, expected->subject);
	if (expected->seen)
		assert_string_equal(finding->seen, expected->seen);
	if (expected->why)
		assert_string_equal(finding->why, expected->why);
	if (expected->count)
		assert_int_equal(finding->count, expected->count);
	if (expected->bytes)
		assert_int_equal(finding->bytes, expected->bytes);
	if (expected->severity)
		assert_string_equal(severity_names[finding->severity], expected->severity);
}

static inline void place_run(void **state)
{
	const struct place_case *one = *state;
	struct snapshots nodes = { 0 };
	char policy[512];
	struct bed bed;
	int length;

	length = snprintf(policy, sizeof(policy), SPEC "%s", one->policy ? one->policy : "");
	assert_in_range(length, 1, sizeof(policy) - 1);
	bed_begin(&bed, policy);
	one->make(&nodes);
	for (size_t i = 0; i < CASE_RANKS && one->cores[i].cpus; i++)
		bed_cpus(&bed, one->cores[i].rank, one->cores[i].cpus);
	for (size_t i = 0; i < CASE_MOVES && (one->moves[i].from || one->moves[i].to); i++)
		bed_move(&bed, &(struct moved){
				       .from = one->moves[i].from,
				       .to = one->moves[i].to,
				       .transport = "rc_mlx5",
				       .device = one->moves[i].device,
				       .op = one->moves[i].op,
				       .src_mem = one->moves[i].src_mem,
				       .dst_mem = one->moves[i].dst_mem,
				       .bytes = one->moves[i].bytes ? one->moves[i].bytes : MIB,
				       .sums = one->moves[i].sums,
			       });
	judge_loss(bed.judge, &one->loss);
	snapshots_judge(&nodes, &bed);
	for (size_t i = 0; i < CASE_EXPECTED && one->expected[i].rule; i++)
		place_expect(&bed, &one->expected[i]);
	snapshots_end(&nodes, &bed);
}

/* A test for each case, of its name. */
static inline int place_run_all(const struct place_case *cases, size_t count)
{
	static struct CMUnitTest tests[PLACE_CASES];

	for (size_t i = 0; i < count; i++)
		tests[i] = (struct CMUnitTest){
			.name = cases[i].name,
			.test_func = place_run,
			.initial_state = (void *)&cases[i],
		};
	return _cmocka_run_group_tests("cases", tests, count, NULL, NULL);
}

#endif
