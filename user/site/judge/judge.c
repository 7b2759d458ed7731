// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/judge.h"

#include <string.h>

#include "site/judge/exhibits/machines.h"
#include "site/judge/internal.h"
#include "site/judge/outcome/outcome.h"
#include "site/judge/rules/rules.h"

const char *const verdict_names[VERDICTS] = { "PASS", "FAIL", "UNKNOWN", "SKIP", "WAIVED" };

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
	losses_release(&judge->losses);
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

void judge_baseline(struct judge *judge, const struct judge *earlier)
{
	judge->earlier = earlier;
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

void judge_loss(struct judge *judge, const struct judge_loss *loss)
{
	if (!loss->node) {
		judge->captures_broken = judge->captures_broken || loss->files || loss->hits ||
					 loss->windows || loss->spans;
		return;
	}
	losses_add(&judge->losses, loss->node, LOSS_RECORDS, loss->records);
	losses_add(&judge->losses, loss->node, LOSS_MISSING, loss->missing);
	losses_add(&judge->losses, loss->node, LOSS_HITS, loss->hits);
	losses_add(&judge->losses, loss->node, LOSS_BYTES, loss->bytes);
	losses_add(&judge->losses, loss->node, LOSS_FILES, loss->files);
	losses_add(&judge->losses, loss->node, LOSS_THINNED, loss->thinned);
	losses_add(&judge->losses, loss->node, LOSS_WINDOWS, loss->windows);
	losses_add(&judge->losses, loss->node, LOSS_SPANS, loss->spans);
	/* windows with all layers of another job's capture say nothing of this one */
	if (!loss->spans)
		losses_add(&judge->losses, loss->node, LOSS_NARROW, loss->windows);
}

static int by_rule(const void *left, const void *right)
{
	const struct finding *a = left, *b = right;
	int order = (a->rule > b->rule) - (a->rule < b->rule);

	order = order ? order : strcmp(a->subject, b->subject);
	return order ? order
		     : strcmp(a->expected ? a->expected : "", b->expected ? b->expected : "");
}

/* What other jobs sent between the parts of a sweep is none of its business. */
static void find_windows(struct judge *judge)
{
	if (!judge->sweep.plan || !judge->sweep.plan->parts.len)
		return;
	inventories_in_parts(&judge->inventories);
	for (size_t i = 0; i < judge->exhibits.captures.len; i++) {
		const struct exhibit_capture *capture = &judge->exhibits.captures.data[i];

		inventories_traced(&judge->inventories, capture->host_id, capture->host_name,
				   capture->start);
	}
}

void judge_finish(struct judge *judge, const struct fact_totals *totals, int64_t today)
{
	const struct trial both_ends = trial_of(judge, catalogue_find("COV-04"));

	exhibits_finish(&judge->exhibits, totals);
	losses_order(&judge->losses);
	inventories_order(&judge->inventories);
	find_windows(judge);
	sweep_finish(&judge->sweep, &judge->exhibits);
	machines_find(&judge->sweep, &judge->inventories);
	mark_incomplete(judge);
	mark_in_part(&both_ends);
	for (size_t i = 0; i < CATALOGUE_RULES; i++)
		judge_rule(judge, &catalogue[i]);
	judge_doubt(judge);
	judge_explain(judge);
	judge_modules(judge);
	judge_causes(judge);
	judge_waive(judge, today);
	qsort(judge->findings.data, judge->findings.len, sizeof(*judge->findings.data), by_rule);
}

size_t judge_findings(const struct judge *judge, const struct finding **findings)
{
	*findings = judge->findings.data;
	return judge->findings.len;
}
