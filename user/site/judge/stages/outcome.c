// SPDX-License-Identifier: BSD-3-Clause
/* Changes verdicts once all rules have run: because of doubt, another fault, or a waiver. */
#include "site/judge/stages/stages.h"

#include <fnmatch.h>
#include <string.h>

#include "base/map.h"
#include "site/judge/words/words.h"
#include "site/judge/rules/rules.h"

/* ---- passes of nodes that the policy forgot, by a misspelt list of nodes for instance ---- */

void stage_classless(struct judge *judge)
{
	for (size_t i = 0; judge->policy->classes.len && i < judge->findings.len; i++) {
		struct finding *finding = &judge->findings.data[i];

		if (finding->verdict != VERDICT_PASS || !compares_classes(finding->rule) ||
		    !finding->subject.node || policy_class_of(judge->policy, finding->subject.node))
			continue;
		finding->verdict = VERDICT_SKIP;
		finding->why = "in none of the policy's classes";
	}
}

/* ---- doubt: passes that rest on incomplete evidence ---- */

/* Rules about traffic, unlike those about software and completeness. */
static bool about_moves(const struct catalogue_rule *rule)
{
	return rule->family != FAMILY_COV && rule->family != FAMILY_CFG;
}

/* The worst lack of the nodes that a finding names; one that names none is about every node. */
static enum lack lack_of(const struct judge *judge, const struct words *nodes,
			 const struct subject *subject, const char **node)
{
	enum lack lack = losses_in(&judge->losses, subject, node);
	const char *found[SUBJECT_NODES];

	if (!lack && !subject_nodes(subject, nodes, found))
		lack = losses_worst(&judge->losses, node);
	return lack;
}

/* Between windows anything may have happened. */
static void doubt_times(struct judge *judge, struct finding *finding, const char *node)
{
	bool pass = finding->verdict == VERDICT_PASS;
	bool unknown = pass ? passes_of_all(finding->rule) : fails_by_absence(finding->rule);

	if (unknown)
		finding->verdict = VERDICT_UNKNOWN;
	if (unknown || pass)
		finding->why = say(judge,
				   unknown ? "%s was recorded only in windows of time (COV-01)"
					   : "as far as windows of %s saw (COV-01)",
				   node);
}

/* NULL: no record is missing that the finding is about. */
static const char *why_lost(struct judge *judge, enum lack lack, const char *node)
{
	if (judge->incomplete)
		return "records were or may be lost (COV-01)";
	return lack == LACK_RECORDS ? say(judge, "something of %s is missing (COV-01)", node)
				    : NULL;
}

/*
 * Lost or unrecorded traffic may have gone another way: nothing passes then. A fault that was seen
 * stands, a failure concluded from absence does not.
 */
void stage_doubt(struct judge *judge)
{
	struct words in_part = { 0 }; /* names of nodes */
	struct words nodes = { 0 }; /* of captures: a finding about none of them is about all */
	const char *found[SUBJECT_NODES], *node;

	for (size_t i = 0; i < judge->aggregates.nodes.len; i++)
		words_keep(&nodes, judge->aggregates.nodes.data[i].name);
	for (size_t i = 0; i < judge->aggregates.nodes.len; i++)
		if (judge->aggregates.nodes.data[i].in_part &&
		    !judge->aggregates.nodes.data[i].whole)
			words_keep(&in_part, judge->aggregates.nodes.data[i].name);
	for (size_t i = 0; i < judge->findings.len; i++) {
		struct finding *finding = &judge->findings.data[i];

		bool pass = finding->verdict == VERDICT_PASS;
		const char *lost;
		enum lack lack;

		if ((!pass && finding->verdict != VERDICT_FAIL) || judged_apart(finding->rule))
			continue;
		lack = lack_of(judge, &nodes, &finding->subject, &node);
		lost = why_lost(judge, lack, node);
		if (lost && (pass || fails_by_absence(finding->rule))) {
			finding->verdict = VERDICT_UNKNOWN;
			finding->why = lost;
			continue;
		}
		if (pass && in_part.kept.all.len && about_moves(finding->rule) &&
		    (finding->rule == &catalogue[RULE_WAIT_03] ||
		     subject_nodes(&finding->subject, &in_part, found)))
			finding->why = "some of its peers are in no capture (COV-04)";
		if (pass && finding->why)
			finding->verdict = VERDICT_UNKNOWN;
		else if (lack == LACK_TIMES)
			doubt_times(judge, finding, node);
	}
	words_release(&in_part);
	words_release(&nodes);
}

/* ---- one fault and its consequences are one finding ---- */

/* Nodes that a failure of a path has to do with -> 1 + its position. */
static void find_wrong_paths(const struct judge *judge, struct map *wrong)
{
	for (size_t i = 0; i < judge->findings.len; i++) {
		const struct finding *path = &judge->findings.data[i];
		const char *nodes[] = { path->subject.node, path->subject.other };

		if (path->verdict != VERDICT_FAIL || path->rule->family != FAMILY_PATH)
			continue;
		for (int n = 0; n < SUBJECT_NODES; n++) {
			uint64_t *at =
				nodes[n] ? map_insert(wrong, map_text(nodes[n]), 0, NULL) : NULL;

			if (at && !*at)
				*at = 1 + i;
		}
	}
}

static const struct finding *explanation(const struct judge *judge, const struct map *wrong,
					 const struct subject *subject)
{
	const char *nodes[] = { subject->node, subject->other };

	for (int n = 0; n < SUBJECT_NODES; n++) {
		const uint64_t *at = nodes[n] ? map_find(wrong, map_text(nodes[n]), 0) : NULL;

		if (at)
			return &judge->findings.data[*at - 1];
	}
	return NULL;
}

/* A wrong path is slow: that is one fault, and the path is its cause. */
void stage_explain(struct judge *judge)
{
	struct map wrong = { 0 };

	find_wrong_paths(judge, &wrong);
	for (size_t i = 0; i < judge->findings.len; i++) {
		struct finding *finding = &judge->findings.data[i];
		const struct finding *path;

		if (finding->verdict != VERDICT_FAIL || finding->rule->family != FAMILY_PERF)
			continue;
		path = explanation(judge, &wrong, &finding->subject);
		if (!path)
			continue;
		finding->verdict = VERDICT_SKIP;
		finding->seen = NULL;
		finding->why =
			say(judge, "explained by %s of %s", path->rule->id, path->subject.text);
	}
	map_release(&wrong);
}

/* ---- waivers ---- */

static const struct policy_waiver *waiver_of(const struct policy *policy,
					     const struct finding *finding, int64_t today)
{
	for (size_t i = 0; i < policy->waivers.len; i++) {
		const struct policy_waiver *waiver = &policy->waivers.data[i];

		if (waiver->rule == finding->rule && waiver->until >= today &&
		    !fnmatch(waiver->subject, finding->subject.text, 0))
			return waiver;
	}
	return NULL;
}

void stage_waive(struct judge *judge, int64_t today)
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
