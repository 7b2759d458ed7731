// SPDX-License-Identifier: BSD-3-Clause
/* The stages of a judgement, in their order. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "site/judge/judge.h"
#include "site/judge/rules/rules.h"
#include "site/judge/stages/stages.h"

static int by_rule(const void *left, const void *right)
{
	const struct finding *a = left, *b = right;
	int order = (a->rule > b->rule) - (a->rule < b->rule);

	order = order ? order : strcmp(a->subject.text, b->subject.text);
	return order ? order
		     : strcmp(a->expected ? a->expected : "", b->expected ? b->expected : "");
}

/*
 * Between the parts of a sweep other jobs may have used the network: their traffic does not count.
 */
static void find_windows(struct judge *judge)
{
	if (!judge->sweep.plan || !judge->sweep.plan->parts.len)
		return;
	inventories_in_parts(&judge->inventories);
	for (size_t i = 0; i < judge->aggregates.captures.len; i++) {
		const struct aggregated_capture *capture = &judge->aggregates.captures.data[i];

		inventories_traced(&judge->inventories, capture->host_id, capture->host_name,
				   capture->start);
	}
}

static void name_nodes(struct judge *judge)
{
	for (size_t i = 0; i < judge->aggregates.nodes.len; i++)
		words_keep(&judge->names, judge->aggregates.nodes.data[i].name);
	for (size_t i = 0; i < judge->inventories.list.len; i++)
		words_keep(&judge->names, judge->inventories.list.data[i].name);
}

void judge_finish(struct judge *judge, const struct fact_totals *totals, int64_t today)
{
	const struct rule_ctx both_ends = rule_ctx_of(judge, &catalogue[RULE_COV_04]);

	assert(judge->phase <= JUDGE_FED);
	aggregates_finish(&judge->aggregates, totals);
	losses_order(&judge->losses);
	inventories_order(&judge->inventories);
	name_nodes(judge);
	find_windows(judge);
	sweep_finish(&judge->sweep, &judge->aggregates);
	machines_find(&judge->sweep, &judge->inventories);
	mark_incomplete(judge);
	mark_in_part(&both_ends);
	for (size_t i = 0; i < CATALOGUE_RULES; i++)
		rule_judge(judge, &catalogue[i]);
	stage_classless(judge);
	stage_doubt(judge);
	stage_explain(judge);
	stage_modules(judge);
	stage_causes(judge);
	stage_waive(judge, today);
	qsort(judge->findings.data, judge->findings.len, sizeof(*judge->findings.data), by_rule);
	judge->phase = JUDGE_FINISHED;
}
