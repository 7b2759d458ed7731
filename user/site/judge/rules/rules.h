/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of the catalogue and their shared helpers. */
#ifndef UCXBPF_JUDGE_RULES_RULES_H
#define UCXBPF_JUDGE_RULES_RULES_H

#include "base/level.h"
#include "site/judge/aggregates/cells.h"
#include "site/judge/internal.h"

/* The context in which a rule is judged. */
struct rule_ctx {
	struct judge *judge;
	const struct aggregates *aggregates;
	const struct catalogue_rule *rule;
	const struct policy_rule *setting;
	const struct rule_settings *settings; /* of all rules */
	const struct policy_expect *expect; /* the line that is judged; NULL: none */
	const struct map *rails; /* of AFF-04 alone: the rails of each pair of processes */
	size_t from; /* its findings are those from this one on */
};

/* Valid until the next one; of the ctx's rule and severity. */
struct finding *found(const struct rule_ctx *ctx, enum verdict verdict, struct subject subject);

/* A finding without a subject of its own: the rule had nothing to look at, or could not. */
void found_nothing(const struct rule_ctx *ctx, enum verdict verdict, const char *why);

/* The same, for one subject. */
void found_why(const struct rule_ctx *ctx, enum verdict verdict, struct subject subject,
	       const char *why);

/* Whether the rule has a finding yet. */
bool found_any(const struct rule_ctx *ctx);

/* "rc_mlx5/mlx5_0:1 rndv/get get_zcopy, host to gpu0" */
const char *cell_text(const struct rule_ctx *ctx, const struct traffic_cell *cell);

/* Whether the location of both ends is known: else no rule of paths has an expectation. */
bool cell_placed(const struct traffic_cell *cell);

/* Between processes of two nodes, or within one. */
bool cell_inter(const struct traffic_cell *cell);
bool cell_intra(const struct traffic_cell *cell);

/* Between nodes, by a NIC that is known. */
bool cell_over_nic(const struct traffic_cell *cell);

/* The node that the cell is of, or one of both. */
struct node *cell_known_node(const struct aggregates *aggregates, const struct traffic_cell *cell);

/* The memory at that end. */
const char *cell_own_memory(const struct traffic_cell *cell);

/* n0:rank3, n0:pid77 where it has no rank; a text of NULL: its node is not known. */
struct subject process_subject(const struct rule_ctx *ctx, int process);

/* Whether captures say that none was made with that --level, or one that has it, too. */
bool level_missing(const struct aggregates *aggregates, enum level level);

/* NULL: none was given. */
const struct node_inventory *inventory_of(const struct rule_ctx *ctx, const struct node *node);

/* Why that is NULL. */
const char *why_no_inventory(const struct rule_ctx *ctx, const struct node *node);

/* Whether a shell pattern of the list fits. */
bool listed(const texts *list, const char *word);

/*
 * Whether that line is the policy's first one that fits the cell's messages; NULL: whether none
 * fits. FITS_MAYBE: their sizes are not known, and for some sizes it is.
 */
enum fits { FITS_NOT, FITS_MAYBE, FITS };
enum fits expectation_fits(const struct aggregates *aggregates, const struct traffic_cell *cell,
			   const struct policy_expect *expect);

/* Reports UNKNOWN for each node of the captures without an inventory. */
void nodes_without_inventory(const struct rule_ctx *ctx);

/* The setting one_machine of rules of times: nodes whose times are unusable are judged as well. */
bool judges_all(const struct rule_ctx *ctx);

/*
 * Rules of times: why the times of a node of the plan are unusable (machines_find()); NULL: they
 * are usable, or the rule's setting one_machine wants the node judged anyway.
 */
const char *times_unusable(const struct rule_ctx *ctx, int node);

/* Whether a transfer has a usable time. */
bool times_usable(const struct rule_ctx *ctx, const struct sweep_transfer *transfer);

/*
 * Reports SKIP for nodes whose times are unusable, once if these are all nodes: then it returns
 * true.
 */
bool skip_unusable_times(const struct rule_ctx *ctx);

/* Ports that messages could take; without a class, only ports with a device of their own. */
bool nic_watched(const struct node_inventory *node, const struct inventory_nic *nic);

/* ---- majorities: nodes of a class that should be alike ---- */

/* A node's value of something that all nodes of its class should share. */
struct entry {
	const struct policy_class *class;
	const char *what;
	const struct node *node; /* that has a name */
};

struct entries {
	VEC(struct entry) list;
};

/*
 * Sorts the entries, and maps each class to 1 + the position of an entry with its most frequent
 * value; of two as frequent ones, that of the node whose name comes first.
 */
void find_usual(struct entries *entries, struct map *usual);

/* ---- rules at work ---- */

/* Before all rules: whether something was lost on an unknown node. */
void mark_incomplete(struct judge *judge);

/* Before all rules: which nodes' peers are in no capture, by COV-04's setting. */
void mark_in_part(const struct rule_ctx *ctx);

/* A rule at work on what the judge has. */
struct rule_ctx rule_ctx_of(struct judge *judge, const struct catalogue_rule *rule);

/* Adds the rule's findings: one SKIP where it is switched off, or its input was not given. */
void rule_judge(struct judge *judge, const struct catalogue_rule *rule);

/* Whether the rule reads no captures: gaps in them do not matter to it. */
bool judged_apart(const struct catalogue_rule *rule);

/* Whether the rule compares a node with its class. */
bool compares_classes(const struct catalogue_rule *rule);

/*
 * If captures recorded everything in windows of time only: whether a pass needs the rest of the
 * time as well. Other rules hold for windows.
 */
bool passes_of_all(const struct catalogue_rule *rule);

/* Whether the rule also fails because something was not seen: missing records may explain that. */
bool fails_by_absence(const struct catalogue_rule *rule);

/* ---- one function per rule; see table.c ---- */
void rule_loss(const struct rule_ctx *ctx);
void rule_both_ends(const struct rule_ctx *ctx);
void rule_attribution(const struct rule_ctx *ctx);
void rule_one_library(const struct rule_ctx *ctx);
void rule_versions(const struct rule_ctx *ctx);
/* CFG-01: environment variables. */
void environments_judge(const struct rule_ctx *ctx);
/* PATH-01: 'staging' and 'dst_copy' of a line. */
void ways_judge(const struct rule_ctx *ctx, const struct policy_expect *expect);
void rule_expected(const struct rule_ctx *ctx);
void rule_tcp(const struct rule_ctx *ctx);
void rule_node_over_nic(const struct rule_ctx *ctx);
void rule_no_straggler(const struct rule_ctx *ctx);
void rule_progress(const struct rule_ctx *ctx);
void rule_balance(const struct rule_ctx *ctx);
void rule_cuda_ipc(const struct rule_ctx *ctx);
void rule_single_copy(const struct rule_ctx *ctx);
void rule_gdr_copy(const struct rule_ctx *ctx);
void rule_staging(const struct rule_ctx *ctx);
void rule_accelerated(const struct rule_ctx *ctx);
void rule_scale(const struct rule_ctx *ctx);
void rule_ucx_in_use(const struct rule_ctx *ctx);
void rule_emulated(const struct rule_ctx *ctx);
void rule_freed(const struct rule_ctx *ctx);
void rule_symmetric(const struct rule_ctx *ctx);
void rule_rail_count(const struct rule_ctx *ctx);
void rule_rail_balance(const struct rule_ctx *ctx);
void rule_memory_type(const struct rule_ctx *ctx);
void rule_collective_memory(const struct rule_ctx *ctx);
void rule_fragments(const struct rule_ctx *ctx);
void rule_service_level(const struct rule_ctx *ctx);
void rule_switch_points(const struct rule_ctx *ctx);
/* Of PROTO-02, by what data of a rendezvous moves. */
void schemes_judge(const struct rule_ctx *ctx);
void rule_ports(const struct rule_ctx *ctx);
void rule_planned(const struct rule_ctx *ctx);
void rule_monotone(const struct rule_ctx *ctx);
void rule_tail(const struct rule_ctx *ctx);
void rule_slow_nodes(const struct rule_ctx *ctx);
void rule_slow_pairs(const struct rule_ctx *ctx);
void rule_goodput(const struct rule_ctx *ctx);
void rule_alltoall(const struct rule_ctx *ctx);
void rule_baseline(const struct rule_ctx *ctx);
void rule_port_counters(const struct rule_ctx *ctx);
void rule_nearest_nic(const struct rule_ctx *ctx);
/* Of PATH-01, 'nic: nearest'. */
void nearest_judge(const struct rule_ctx *ctx, const struct policy_expect *expect);
void rule_binding(const struct rule_ctx *ctx);
void rule_nic_collision(const struct rule_ctx *ctx);
void rule_adapters(const struct rule_ctx *ctx);
void rule_aligned(const struct rule_ctx *ctx);
void rule_roce(const struct rule_ctx *ctx);
void rule_error_counters(const struct rule_ctx *ctx);

#endif
