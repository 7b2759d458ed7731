/* SPDX-License-Identifier: BSD-3-Clause */
/* What rules have in common: how they say what they found. */
#ifndef UCXBPF_JUDGE_RULES_H
#define UCXBPF_JUDGE_RULES_H

#include "judge/exhibits.h"
#include "judge/exhibits_inventory.h"
#include "judge/sweep.h"

struct judge {
	struct exhibits exhibits;
	struct node_inventories inventories;
	struct sweep sweep, baseline; /* baseline: an earlier one */
	const struct policy *policy;
	VEC(struct finding) findings;
	VEC(char *) made; /* strings of findings */
	bool captures_broken; /* a capture lacks something, who knows what */
	bool incomplete; /* records were or may be lost: nothing may pass */
};

/* Once all rules have spoken: a PERF failure of a node whose path is wrong is SKIP. */
void judge_explain(struct judge *judge);

/* A rule at work. */
struct trial {
	struct judge *judge;
	const struct exhibits *exhibits;
	const struct catalogue_rule *rule;
	const struct policy_rule *setting;
};

/* Lives as long as the judge. */
const char *say(struct judge *judge, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct finding *found(const struct trial *trial, enum verdict verdict, const char *subject);

/* A finding without a subject of its own: the rule had nothing to look at, or could not. */
void found_nothing(const struct trial *trial, enum verdict verdict, const char *why);

/* The same, for one subject. */
void found_why(const struct trial *trial, enum verdict verdict, const char *subject,
	       const char *why);

/* The subject of what is said of everything. */
#define ALL_CAPTURES "all captures"

/* What a rule sums up of one subject: what is as it should be and what is not. */
struct tally {
	const char *subject;
	const void *of; /* whose: tallies are found by these two */
	const void *and;
	uint64_t count, bytes; /* of the wrong ones */
	uint64_t all_count, all_bytes;
	const struct cell *worst; /* the wrong cell of most bytes */
	const char *seen; /* in its place, where that says too little */
	struct finding_example examples[FINDING_EXAMPLES];
	size_t example_count;
};

struct tallies {
	VEC(struct tally) list;
	struct map index; /* (of, and) -> 1 + position */
};

void tallies_release(struct tallies *tallies);

/* A node, or a pair of them; the subject is named once. */
struct tally *tally_node(const struct trial *trial, struct tallies *tallies,
			 const struct node *node);
struct tally *tally_pair(const struct trial *trial, struct tallies *tallies,
			 const struct node *from, const struct node *to);

/* Of the node that a cell is within, else of the pair. */
struct tally *tally_cell(const struct trial *trial, struct tallies *tallies,
			 const struct cell *cell);

/* The same, if there is one; NULL: none. */
struct tally *tallies_find(const struct trial *trial, const struct tallies *tallies,
			   const struct cell *cell);

void tally_add(struct tally *tally, const struct cell *cell, bool wrong);
void tally_examples(struct tally *tally, const struct cell *cell);

/* Of the bytes, or of the transfers where none has bytes. */
double tally_share(const struct tally *tally);

/*
 * A finding per tally: FAIL where more than that share is wrong, else PASS; none at all: SKIP with
 * why_none. seen describes the worst cell.
 */
void tallies_judge(const struct trial *trial, struct tallies *tallies, double allowed,
		   const char *expected, const char *why_none);

/* "rc_mlx5/mlx5_0:1 rndv/get get_zcopy, host to gpu0" */
const char *cell_text(const struct trial *trial, const struct cell *cell);

/* Whether it is known where both ends are: else no rule of paths can say what it should be. */
bool cell_placed(const struct cell *cell);

/* Between processes of two nodes, or within one. */
bool cell_inter(const struct cell *cell);
bool cell_intra(const struct cell *cell);

/* Between nodes, by a NIC that is known. */
bool cell_over_nic(const struct cell *cell);

/* The process whose device a cell is of: that which starts the transfer. */
int cell_owner(const struct cell *cell);

/* tcp, rc_*, dc_*, ud_*: what goes through a NIC. */
bool is_network(const char *transport);
bool is_gpu(const char *memory);

/* Whether a shell pattern of the list fits. */
bool listed(const texts *list, const char *word);

/* The policy's first line that fits the cell's messages; NULL: none. */
const struct policy_expect *expectation(const struct exhibits *exhibits, const struct cell *cell);

/* UNKNOWN for each node of the captures of which no inventory is there. */
void nodes_without_inventory(const struct trial *trial);

/* Before all rules: which nodes' peers are in no capture, by COV-04's setting. */
void mark_in_part(const struct trial *trial);

/* ---- one function per rule; see judge.c's table ---- */
void rule_loss(const struct trial *trial);
void rule_both_ends(const struct trial *trial);
void rule_attribution(const struct trial *trial);
void rule_one_library(const struct trial *trial);
void rule_versions(const struct trial *trial);
/* Of CFG-01, what is about variables. */
void judge_environments(const struct trial *trial);
/* Of PATH-01, what a line says of memory between both buffers. */
void judge_ways(const struct trial *trial, const struct policy_expect *expect);
void rule_expected(const struct trial *trial);
void rule_tcp(const struct trial *trial);
void rule_node_over_nic(const struct trial *trial);
void rule_cuda_ipc(const struct trial *trial);
void rule_single_copy(const struct trial *trial);
void rule_gdr_copy(const struct trial *trial);
void rule_staging(const struct trial *trial);
void rule_accelerated(const struct trial *trial);
void rule_scale(const struct trial *trial);
void rule_ucx_in_use(const struct trial *trial);
void rule_symmetric(const struct trial *trial);
void rule_rail_count(const struct trial *trial);
void rule_rail_balance(const struct trial *trial);
/* Of COV-04, operations that never ended. */
void judge_open(const struct trial *trial);
void rule_memory_type(const struct trial *trial);
void rule_collective_memory(const struct trial *trial);
void rule_fragments(const struct trial *trial);
void rule_service_level(const struct trial *trial);
void rule_switch_points(const struct trial *trial);
void rule_ports(const struct trial *trial);
void rule_planned(const struct trial *trial);
void rule_monotone(const struct trial *trial);
void rule_tail(const struct trial *trial);
void rule_slow_nodes(const struct trial *trial);
void rule_slow_pairs(const struct trial *trial);
void rule_goodput(const struct trial *trial);
void rule_alltoall(const struct trial *trial);
void rule_baseline(const struct trial *trial);
void rule_port_counters(const struct trial *trial);
void rule_nearest_nic(const struct trial *trial);
/* Of PATH-01, 'nic: nearest'. */
void judge_nearest(const struct trial *trial, const struct policy_expect *expect);
void rule_binding(const struct trial *trial);
void rule_nic_collision(const struct trial *trial);
void rule_adapters(const struct trial *trial);
void rule_aligned(const struct trial *trial);
void rule_roce(const struct trial *trial);
void rule_error_counters(const struct trial *trial);

#endif
