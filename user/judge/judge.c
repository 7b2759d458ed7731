// SPDX-License-Identifier: BSD-3-Clause
#include "judge/judge.h"

#include <fnmatch.h>
#include <string.h>

#include "judge/named.h"
#include "judge/rules.h"

const char *const verdict_names[VERDICTS] = { "PASS", "FAIL", "UNKNOWN", "SKIP", "WAIVED" };

enum source {
	OF_CAPTURES,
	OF_INVENTORIES, /* and of nothing else: what captures lack is no doubt about it */
	OF_SWEEPS, /* and of captures: says by itself what they lack for it */
	OF_LEDGERS, /* and of nothing else */
};

/* The rules that can be judged; the others of the catalogue need more than what may be given. */
static const struct judged {
	const char *id;
	void (*judge)(const struct trial *trial);
	enum source source;
} rules[] = {
	{ "COV-01", rule_loss, OF_CAPTURES },
	{ "COV-02", rule_port_counters, OF_CAPTURES },
	{ "COV-03", rule_planned, OF_SWEEPS },
	{ "COV-04", rule_both_ends, OF_CAPTURES },
	{ "COV-05", rule_attribution, OF_CAPTURES },
	{ "COV-06", rule_one_library, OF_CAPTURES },
	{ "CFG-01", rule_versions, OF_CAPTURES },
	{ "PATH-01", rule_expected, OF_CAPTURES },
	{ "PATH-02", rule_tcp, OF_CAPTURES },
	{ "PATH-03", rule_node_over_nic, OF_CAPTURES },
	{ "PATH-04", rule_cuda_ipc, OF_CAPTURES },
	{ "PATH-05", rule_single_copy, OF_CAPTURES },
	{ "PATH-06", rule_gdr_copy, OF_CAPTURES },
	{ "PATH-07", rule_staging, OF_CAPTURES },
	{ "PATH-08", rule_accelerated, OF_CAPTURES },
	{ "PATH-09", rule_scale, OF_CAPTURES },
	{ "PATH-10", rule_memory_type, OF_CAPTURES },
	{ "PATH-11", rule_ucx_in_use, OF_CAPTURES },
	{ "PATH-12", rule_symmetric, OF_CAPTURES },
	{ "RAIL-01", rule_rail_count, OF_CAPTURES },
	{ "RAIL-02", rule_rail_balance, OF_CAPTURES },
	{ "PROTO-01", rule_monotone, OF_LEDGERS },
	{ "RAIL-03", rule_fragments, OF_CAPTURES },
	{ "PROTO-02", rule_switch_points, OF_CAPTURES },
	{ "PROTO-03", rule_collective_memory, OF_CAPTURES },
	{ "FAB-01", rule_service_level, OF_CAPTURES },
	{ "RAIL-05", rule_ports, OF_INVENTORIES },
	{ "FAB-03", rule_tail, OF_LEDGERS },
	{ "PERF-01", rule_slow_nodes, OF_LEDGERS },
	{ "PERF-02", rule_slow_pairs, OF_LEDGERS },
	{ "PERF-03", rule_goodput, OF_LEDGERS },
	{ "PERF-04", rule_alltoall, OF_LEDGERS },
	{ "PERF-05", rule_baseline, OF_LEDGERS },
	{ "RAIL-04", rule_adapters, OF_CAPTURES },
	{ "AFF-01", rule_nearest_nic, OF_CAPTURES },
	{ "AFF-02", rule_binding, OF_CAPTURES },
	{ "AFF-03", rule_nic_collision, OF_CAPTURES },
	{ "AFF-04", rule_aligned, OF_CAPTURES },
	{ "FAB-02", rule_roce, OF_INVENTORIES },
	{ "FAB-04", rule_error_counters, OF_INVENTORIES },
};

struct judge *judge_new(const struct policy *policy)
{
	struct judge *judge = calloc(1, sizeof(*judge));

	judge->policy = policy;
	exhibits_init(&judge->exhibits, policy);
	return judge;
}

void judge_free(struct judge *judge)
{
	if (!judge)
		return;
	exhibits_release(&judge->exhibits);
	inventories_release(&judge->inventories);
	sweep_release(&judge->sweep);
	sweep_release(&judge->baseline);
	vec_release(&judge->findings);
	for (size_t i = 0; i < judge->made.len; i++)
		free(judge->made.data[i]);
	vec_release(&judge->made);
	free(judge);
}

struct fact_sink judge_sink(struct judge *judge)
{
	return exhibits_sink(&judge->exhibits);
}

void judge_plan(struct judge *judge, const struct plan *plan)
{
	sweep_plan(&judge->sweep, plan);
}

void judge_ledger(struct judge *judge, const struct ledger_entry *entry)
{
	sweep_entry(&judge->sweep, entry);
}

void judge_baseline_plan(struct judge *judge, const struct plan *plan)
{
	sweep_plan(&judge->baseline, plan);
}

void judge_baseline_ledger(struct judge *judge, const struct ledger_entry *entry)
{
	sweep_entry(&judge->baseline, entry);
}

void judge_inventory(struct judge *judge, const struct inventory *inventory)
{
	inventories_add(&judge->inventories, judge->policy, inventory);
}

void judge_capture(struct judge *judge, const char *host_id, const char *host_name, uint64_t start)
{
	const struct exhibit_capture capture = { host_id, host_name, start };

	vec_push(&judge->exhibits.captures, capture);
}

void judge_captures_broken(struct judge *judge)
{
	judge->captures_broken = true;
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
	return "captures do not tell it";
}

static const struct judged *judged_by(const struct catalogue_rule *rule)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (!strcmp(rules[i].id, rule->id))
			return &rules[i];
	return NULL;
}

/* Of some node, one from before and one from after. */
static bool has_two_snapshots(const struct judge *judge)
{
	for (size_t i = 0; i < judge->inventories.list.len; i++)
		if (judge->inventories.list.data[i].first != judge->inventories.list.data[i].last)
			return true;
	return false;
}

/* NULL: all that the rule looks at is there, as far as its kind goes. */
static const char *what_lacks(const struct judge *judge, const struct catalogue_rule *rule,
			      const struct judged *judged)
{
	bool captures = judge->exhibits.totals.captures || judge->exhibits.members.len;

	if (!judged)
		return why_not(rule->needs);
	if (rule->needs & (NEEDS_INVENTORY | NEEDS_COUNTERS) && !judge->inventories.list.len)
		return why_not(rule->needs);
	if (rule->needs & (NEEDS_PLAN | NEEDS_TIMES) && !judge->sweep.plan)
		return why_not(rule->needs);
	if (rule->needs & NEEDS_COUNTERS && !has_two_snapshots(judge))
		return why_not(rule->needs);
	/* captures that say nothing are what COV-01 is about */
	if (judged->source == OF_CAPTURES && !captures &&
	    (judge->inventories.list.len || judge->sweep.plan))
		return "no capture was given";
	return NULL;
}

static struct trial trial_of(struct judge *judge, const struct catalogue_rule *rule)
{
	return (struct trial){
		.judge = judge,
		.exhibits = &judge->exhibits,
		.rule = rule,
		.setting = policy_rule(judge->policy, rule),
	};
}

static void judge_rule(struct judge *judge, const struct catalogue_rule *rule)
{
	const struct judged *judged = judged_by(rule);
	const char *lacks = what_lacks(judge, rule, judged);
	const struct trial trial = trial_of(judge, rule);

	if (trial.setting->off) {
		found_nothing(&trial, VERDICT_SKIP, "switched off by the policy");
		return;
	}
	if (lacks)
		found_nothing(&trial, VERDICT_SKIP, lacks);
	else
		judged->judge(&trial);
}

/* Of the rules about what moved, unlike those about software. */
static bool about_moves(const struct catalogue_rule *rule)
{
	return strncmp(rule->id, "COV", 3) && strncmp(rule->id, "CFG", 3);
}

/* Judged by what captures have no part in. */
static bool apart(const struct catalogue_rule *rule)
{
	const struct judged *judged = judged_by(rule);

	return judged && (judged->source == OF_INVENTORIES || judged->source == OF_LEDGERS);
}

/*
 * What was lost, or went where nobody looked, may have gone another way: nothing is proved then,
 * but what was seen was seen.
 */
static void doubt(struct judge *judge)
{
	struct words in_part = { 0 };
	const char *found[NAMED_MOST];

	for (size_t i = 0; i < judge->exhibits.nodes.len; i++)
		if (judge->exhibits.nodes.data[i].in_part)
			words_keep(&in_part, judge->exhibits.nodes.data[i].name);
	for (size_t i = 0; i < judge->findings.len; i++) {
		struct finding *finding = &judge->findings.data[i];

		if (finding->verdict != VERDICT_PASS || apart(finding->rule))
			continue;
		if (judge->incomplete)
			finding->why = "records were or may be lost (COV-01)";
		else if (in_part.list.len && about_moves(finding->rule) &&
			 named_in(&in_part, finding->subject, found))
			finding->why = "some of its peers are in no capture (COV-04)";
		if (finding->why)
			finding->verdict = VERDICT_UNKNOWN;
	}
	words_release(&in_part);
}

static const struct policy_waiver *waiver_of(const struct policy *policy,
					     const struct finding *finding, int64_t today)
{
	for (size_t i = 0; i < policy->waivers.len; i++) {
		const struct policy_waiver *waiver = &policy->waivers.data[i];

		if (waiver->rule == finding->rule && waiver->until >= today &&
		    !fnmatch(waiver->subject, finding->subject, 0))
			return waiver;
	}
	return NULL;
}

static void waive(struct judge *judge, int64_t today)
{
	for (size_t i = 0; i < judge->findings.len; i++) {
		struct finding *finding = &judge->findings.data[i];
		const struct policy_waiver *waiver;

		if (finding->verdict != VERDICT_FAIL && finding->verdict != VERDICT_UNKNOWN)
			continue;
		waiver = waiver_of(judge->policy, finding, today);
		if (!waiver)
			continue;
		finding->verdict = VERDICT_WAIVED;
		finding->why = waiver->reason;
	}
}

static int by_rule(const void *left, const void *right)
{
	const struct finding *a = left, *b = right;
	int order = (a->rule > b->rule) - (a->rule < b->rule);

	order = order ? order : strcmp(a->subject, b->subject);
	return order ? order
		     : strcmp(a->expected ? a->expected : "", b->expected ? b->expected : "");
}

void judge_finish(struct judge *judge, const struct fact_totals *totals, int64_t today)
{
	const struct trial both_ends = trial_of(judge, catalogue_find("COV-04"));

	exhibits_finish(&judge->exhibits, totals);
	inventories_order(&judge->inventories);
	sweep_finish(&judge->sweep, &judge->exhibits);
	mark_in_part(&both_ends);
	for (size_t i = 0; i < CATALOGUE_RULES; i++)
		judge_rule(judge, &catalogue[i]);
	doubt(judge);
	judge_explain(judge);
	waive(judge, today);
	qsort(judge->findings.data, judge->findings.len, sizeof(*judge->findings.data), by_rule);
}

size_t judge_findings(const struct judge *judge, const struct finding **findings)
{
	*findings = judge->findings.data;
	return judge->findings.len;
}

/* Of captures, and those of which there is but an inventory; two of one name are one. */
static void count_nodes(const struct judge *judge, struct judge_summary *summary)
{
	const char *found[NAMED_MOST];
	struct words names = { 0 };
	struct map failed = { 0 };

	for (size_t i = 0; i < judge->exhibits.nodes.len; i++)
		words_keep(&names, judge->exhibits.nodes.data[i].name);
	for (size_t i = 0; i < judge->inventories.list.len; i++)
		words_keep(&names, judge->inventories.list.data[i].name);
	for (size_t i = 0; i < judge->findings.len; i++) {
		const struct finding *finding = &judge->findings.data[i];
		size_t count = finding->verdict == VERDICT_FAIL
				       ? named_in(&names, finding->subject, found)
				       : 0;

		while (count)
			map_insert(&failed, (uintptr_t)found[--count], 0, NULL);
	}
	summary->nodes = names.list.len;
	summary->failed_nodes = failed.used;
	words_release(&names);
	map_release(&failed);
}

struct judge_summary judge_summary(const struct judge *judge)
{
	struct judge_summary summary = { 0 };

	for (size_t i = 0; i < judge->findings.len; i++) {
		const struct finding *finding = &judge->findings.data[i];

		summary.verdicts[finding->verdict]++;
		if (finding->verdict != VERDICT_FAIL)
			continue;
		summary.critical += finding->severity == SEVERITY_CRITICAL;
		summary.warning += finding->severity == SEVERITY_WARNING;
	}
	count_nodes(judge, &summary);
	return summary;
}

int judge_status(const struct judge *judge, bool warn_ok)
{
	struct judge_summary summary = judge_summary(judge);

	if (summary.critical)
		return 2;
	if (summary.verdicts[VERDICT_UNKNOWN])
		return 3;
	return summary.warning && !warn_ok ? 1 : 0;
}
