// SPDX-License-Identifier: BSD-3-Clause
/* What passed as far as was seen, where not all was seen. */
#include <string.h>

#include "judge/exhibits/named.h"
#include "judge/outcome/outcome.h"
#include "judge/rules/table.h"

/* Of the rules about what moved, unlike those about software. */
static bool about_moves(const struct catalogue_rule *rule)
{
	return strncmp(rule->id, "COV", 3) && strncmp(rule->id, "CFG", 3);
}

/* Something of a node is missing, and that is of it, of a pair of it, or of all nodes. */
static const char *lost(const struct judge *judge, const struct words *nodes, const char *subject)
{
	const char *node = losses_in(&judge->losses, subject), *found[NAMED_MOST];

	if (!node && judge->losses.list.len && !named_in(nodes, subject, found))
		node = judge->losses.list.data[0].node;
	return node;
}

/*
 * What was lost, or went where nobody looked, may have gone another way: nothing is proved then,
 * but what was seen was seen.
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

		if (finding->verdict != VERDICT_PASS || judged_apart(finding->rule))
			continue;
		if (judge->incomplete)
			finding->why = "records were or may be lost (COV-01)";
		else if ((node = lost(judge, &nodes, finding->subject)))
			finding->why = say(judge, "something of %s is missing (COV-01)", node);
		else if (in_part.list.len && about_moves(finding->rule) &&
			 named_in(&in_part, finding->subject, found))
			finding->why = "some of its peers are in no capture (COV-04)";
		if (finding->why)
			finding->verdict = VERDICT_UNKNOWN;
	}
	words_release(&in_part);
	words_release(&nodes);
}
