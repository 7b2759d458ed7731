// SPDX-License-Identifier: BSD-3-Clause
/* What passed as far as was seen, where not all was seen. */
#include <string.h>

#include "site/judge/exhibits/named.h"
#include "site/judge/outcome/outcome.h"
#include "site/judge/rules/rules.h"

/* Of the rules about what moved, unlike those about software. */
static bool about_moves(const struct catalogue_rule *rule)
{
	return strncmp(rule->id, "COV", 3) && strncmp(rule->id, "CFG", 3);
}

/* The worst lack of the nodes that a finding names; one that names none is about every node. */
static enum lack lack_of(const struct judge *judge, const struct words *nodes, const char *subject,
			 const char **node)
{
	enum lack lack = losses_in(&judge->losses, subject, node);
	const char *found[NAMED_MOST];

	if (!lack && !named_in(nodes, subject, found))
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
				   unknown ? "%s was recorded in windows of time alone (COV-01)"
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
void judge_doubt(struct judge *judge)
{
	struct words in_part = { 0 }, nodes = { 0 };
	const char *found[NAMED_MOST], *node;

	for (size_t i = 0; i < judge->exhibits.nodes.len; i++)
		words_keep(&nodes, judge->exhibits.nodes.data[i].name);
	for (size_t i = 0; i < judge->exhibits.nodes.len; i++)
		if (judge->exhibits.nodes.data[i].in_part && !judge->exhibits.nodes.data[i].whole)
			words_keep(&in_part, judge->exhibits.nodes.data[i].name);
	for (size_t i = 0; i < judge->findings.len; i++) {
		struct finding *finding = &judge->findings.data[i];

		bool pass = finding->verdict == VERDICT_PASS;
		const char *lost;
		enum lack lack;

		if ((!pass && finding->verdict != VERDICT_FAIL) || judged_apart(finding->rule))
			continue;
		lack = lack_of(judge, &nodes, finding->subject, &node);
		lost = why_lost(judge, lack, node);
		if (lost && (pass || fails_by_absence(finding->rule))) {
			finding->verdict = VERDICT_UNKNOWN;
			finding->why = lost;
			continue;
		}
		if (pass && in_part.list.len && about_moves(finding->rule) &&
		    named_in(&in_part, finding->subject, found))
			finding->why = "some of its peers are in no capture (COV-04)";
		if (pass && finding->why)
			finding->verdict = VERDICT_UNKNOWN;
		else if (lack == LACK_TIMES)
			doubt_times(judge, finding, node);
	}
	words_release(&in_part);
	words_release(&nodes);
}
