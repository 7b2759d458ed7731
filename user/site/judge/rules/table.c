// SPDX-License-Identifier: BSD-3-Clause
/* Which function judges which rule of the catalogue, from what. */
#include "site/judge/rules/rules.h"

#include <string.h>

enum {
	OF_CAPTURES = 1,
	OF_INVENTORIES = 2, /* and of nothing else: gaps in captures cast no doubt on it */
	OF_SWEEPS = 4, /* and of captures: the rule itself reports gaps in them */
	OF_LEDGERS = 8, /* and of nothing else */
	PASS_OF_ALL = 16, /* a pass covers all of the time; else only the recorded part */
	FAIL_BY_ABSENCE = 32, /* missing records may be why it fails */
	OF_TIMES = 64, /* nodes whose times are unusable are skipped first */
	OF_CLASSES = 128, /* compares a node with its class: no pass without one */
};

static const struct judged {
	void (*judge)(const struct rule_ctx *ctx);
	unsigned int flags;
	const char *none; /* why it has no finding; NULL: the rule reports that itself */
} rules[CATALOGUE_RULES] = {
	[RULE_COV_01] = { rule_loss, OF_CAPTURES },
	[RULE_COV_02] = { rule_port_counters, OF_CAPTURES | PASS_OF_ALL,
			  "no class has 'nics', and no NIC was used" },
	[RULE_COV_03] = { rule_planned, OF_SWEEPS | PASS_OF_ALL },
	[RULE_COV_04] = { rule_both_ends, OF_CAPTURES | PASS_OF_ALL },
	[RULE_COV_05] = { rule_attribution, OF_CAPTURES, "no data was moved" },
	[RULE_COV_06] = { rule_one_library, OF_CAPTURES, "no process has UCX" },
	[RULE_CFG_01] = { rule_versions, OF_CAPTURES | OF_CLASSES },
	[RULE_PATH_01] = { rule_expected, OF_CAPTURES,
			   "no line under 'expect' matches the traffic" },
	[RULE_PATH_02] = { rule_tcp, OF_CAPTURES, "no two nodes exchanged data" },
	[RULE_PATH_03] = { rule_node_over_nic, OF_CAPTURES,
			   "no two processes of one node exchanged data" },
	[RULE_PATH_04] = { rule_cuda_ipc, OF_CAPTURES,
			   "no two GPUs of one node exchanged large messages" },
	[RULE_PATH_05] = { rule_single_copy, OF_CAPTURES, "no large host messages within a node" },
	[RULE_PATH_06] = { rule_gdr_copy, OF_CAPTURES, "no small messages of GPU memory" },
	[RULE_PATH_07] = { rule_staging, OF_CAPTURES,
			   "no large messages of GPU memory between nodes" },
	[RULE_PATH_08] = { rule_accelerated, OF_CAPTURES, "no mlx5 device was used" },
	[RULE_PATH_09] = { rule_scale, OF_CAPTURES | PASS_OF_ALL, "rc was not used" },
	[RULE_PATH_10] = { rule_memory_type, OF_CAPTURES,
			   "no buffer has memory known both to its GPU library and to UCX" },
	[RULE_PATH_11] = { rule_ucx_in_use, OF_CAPTURES, "no process called MPI" },
	[RULE_PATH_12] = { rule_symmetric, OF_CAPTURES, "no two nodes exchanged data" },
	[RULE_PATH_13] = { rule_emulated, OF_CAPTURES,
			   "no data moved by put, get or atomic operations" },
	[RULE_RAIL_01] = { rule_rail_count, OF_CAPTURES | FAIL_BY_ABSENCE,
			   "no class has 'rails', or no large message left a node" },
	[RULE_RAIL_02] = { rule_rail_balance, OF_CAPTURES,
			   "no class has several 'nics', or no large message left a node" },
	[RULE_PROTO_01] = { rule_monotone, OF_LEDGERS | OF_TIMES, "needs 10 times of a message" },
	[RULE_RAIL_03] = { rule_fragments, OF_CAPTURES, "no message went over several devices" },
	[RULE_PROTO_02] = { rule_switch_points, OF_CAPTURES,
			    "no two nodes of a class sent both by rendezvous and eagerly, or both by rendezvous" },
	[RULE_PROTO_03] = { rule_collective_memory, OF_CAPTURES,
			    "no collective was seen to move GPU memory" },
	[RULE_PROTO_04] = { rule_freed, OF_CAPTURES,
			    "ucp_mem_unmap() was not seen to free anything" },
	[RULE_FAB_01] = { rule_service_level, OF_CAPTURES,
			  "no line under 'expect' with 'sl' matches the traffic over InfiniBand" },
	[RULE_RAIL_05] = { rule_ports, OF_INVENTORIES | OF_CLASSES,
			   "no class has 'nics', and no node has a NIC on PCI that is up" },
	[RULE_FAB_03] = { rule_tail, OF_LEDGERS | OF_TIMES,
			  "needs 100 times of the smallest message between nodes, or 10 of the "
			  "largest" },
	[RULE_PERF_01] = { rule_slow_nodes, OF_LEDGERS | OF_TIMES,
			   "needs three nodes of a class that exchanged messages with others in three rounds" },
	[RULE_PERF_02] = { rule_slow_pairs, OF_LEDGERS | OF_TIMES,
			   "no three pairs exchanged messages often enough (variant all-pairs:3)" },
	[RULE_PERF_03] = { rule_goodput, OF_LEDGERS | OF_TIMES },
	[RULE_PERF_04] = { rule_alltoall, OF_LEDGERS },
	[RULE_PERF_05] = { rule_baseline, OF_LEDGERS },
	[RULE_WAIT_01] = { rule_no_straggler, OF_CAPTURES, "no process called MPI" },
	[RULE_WAIT_02] = { rule_progress, OF_CAPTURES, "no process called MPI" },
	[RULE_WAIT_03] = { rule_balance, OF_CAPTURES, "no process called MPI" },
	[RULE_RAIL_04] = { rule_adapters, OF_CAPTURES | FAIL_BY_ABSENCE,
			   "no node used several NICs on PCI" },
	[RULE_AFF_01] = { rule_nearest_nic, OF_CAPTURES, "no memory of a GPU left a node" },
	[RULE_AFF_02] = { rule_binding, OF_CAPTURES,
			  "no rank sent a message from a GPU or to another node" },
	[RULE_AFF_03] = { rule_nic_collision, OF_CAPTURES | FAIL_BY_ABSENCE,
			  "no memory of a GPU left a node" },
	[RULE_AFF_04] = { rule_aligned, OF_CAPTURES | FAIL_BY_ABSENCE,
			  "no two processes of different nodes sent to each other" },
	[RULE_FAB_02] = { rule_roce, OF_INVENTORIES },
	[RULE_FAB_04] = { rule_error_counters, OF_INVENTORIES,
			  "no class has 'nics', and no node has a NIC on PCI" },
};

struct rule_ctx rule_ctx_of(struct judge *judge, const struct catalogue_rule *rule)
{
	return (struct rule_ctx){
		.judge = judge,
		.aggregates = &judge->aggregates,
		.rule = rule,
		.setting = policy_rule(judge->policy, rule),
		.settings = &judge->policy->settings,
	};
}

static const char *why_not(unsigned int needs)
{
	static const struct {
		unsigned int need;
		const char *why;
	} reasons[] = {
		{ NEEDS_PLAN, "needs a sweep's plan (--plan)" },
		{ NEEDS_COUNTERS, "needs an inventory from before and one from after the job" },
		{ NEEDS_INVENTORY, "needs the nodes' inventory (ucxbpf inventory)" },
		{ NEEDS_TIMES, "needs the times of a sweep's rounds" },
		{ NEEDS_BASELINE, "needs a baseline" },
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
		if (needs & reasons[i].need)
			return reasons[i].why;
	return "captures do not show it";
}

static const struct judged *judged_by(const struct catalogue_rule *rule)
{
	return &rules[catalogue_index(rule)];
}

/* Whether some node has an inventory from before and one from after. */
static bool has_two_snapshots(const struct judge *judge)
{
	for (size_t i = 0; i < judge->inventories.list.len; i++)
		if (judge->inventories.list.data[i].first != judge->inventories.list.data[i].last)
			return true;
	return false;
}

/* Their order is by name. */
static bool has_two_boots(const struct judge *judge)
{
	const struct node_inventory *list = judge->inventories.list.data;

	for (size_t i = 1; i < judge->inventories.list.len; i++)
		if (!strcmp(list[i - 1].name, list[i].name))
			return true;
	return false;
}

/* NULL: there is input of the kind that the rule reads; else the part that is missing. */
static const char *what_lacks(const struct judge *judge, const struct catalogue_rule *rule,
			      const struct judged *judged)
{
	bool captures = judge->aggregates.totals.captures || judge->aggregates.members.len;
	bool lost = judge->incomplete || judge->losses.list.len;

	if (rule->needs & (NEEDS_INVENTORY | NEEDS_COUNTERS) && !judge->inventories.list.len)
		return why_not(rule->needs);
	if (rule->needs & (NEEDS_PLAN | NEEDS_TIMES) && !judge->sweep.plan)
		return why_not(rule->needs);
	if (rule->needs & NEEDS_COUNTERS && !has_two_snapshots(judge))
		return has_two_boots(judge) ? "needs an inventory from before and one from after "
					      "the job, of one boot"
					    : why_not(rule->needs);
	/* COV-01 reports captures without records, and files that cannot be read */
	if (judged->flags & OF_CAPTURES && !captures && !(lost && judged->judge == rule_loss) &&
	    (judge->inventories.list.len || judge->sweep.plan))
		return "no capture was given";
	return NULL;
}

bool judged_apart(const struct catalogue_rule *rule)
{
	const struct judged *judged = judged_by(rule);

	return judged->flags & (OF_INVENTORIES | OF_LEDGERS);
}

bool compares_classes(const struct catalogue_rule *rule)
{
	return judged_by(rule)->flags & OF_CLASSES;
}

bool passes_of_all(const struct catalogue_rule *rule)
{
	const struct judged *judged = judged_by(rule);

	return judged->flags & PASS_OF_ALL;
}

bool fails_by_absence(const struct catalogue_rule *rule)
{
	const struct judged *judged = judged_by(rule);

	return judged->flags & FAIL_BY_ABSENCE;
}

void rule_judge(struct judge *judge, const struct catalogue_rule *rule)
{
	const struct judged *judged = judged_by(rule);
	const char *lacks = what_lacks(judge, rule, judged);
	struct rule_ctx ctx = rule_ctx_of(judge, rule);

	if (ctx.setting->off) {
		found_nothing(&ctx, VERDICT_SKIP, "switched off by the policy");
		return;
	}
	if (lacks) {
		found_nothing(&ctx, VERDICT_SKIP, lacks);
		return;
	}
	if (judged->flags & OF_TIMES && skip_unusable_times(&ctx))
		return;
	ctx.from = judge->findings.len;
	judged->judge(&ctx);
	if (judged->none && !found_any(&ctx))
		found_nothing(&ctx, VERDICT_SKIP, judged->none);
}
