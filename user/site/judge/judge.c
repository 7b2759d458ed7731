// SPDX-License-Identifier: BSD-3-Clause
/* The state of a judge, and its input. */
#include "site/judge/judge.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "site/judge/aggregates/sweep.h"
#include "site/judge/words/words.h"
#include "site/judge/internal.h"

struct judge *judge_new(const struct policy *policy)
{
	struct judge *judge = xcalloc(1, sizeof(*judge));

	judge->policy = policy;
	aggregates_init(&judge->aggregates, policy);
	return judge;
}

void judge_free(struct judge *judge)
{
	if (!judge)
		return;
	aggregates_release(&judge->aggregates);
	inventories_release(&judge->inventories);
	sweep_release(&judge->sweep);
	losses_release(&judge->losses);
	words_release(&judge->names);
	vec_release(&judge->findings);
	for (size_t i = 0; i < judge->made.len; i++)
		free(judge->made.data[i]);
	vec_release(&judge->made);
	free(judge);
}

void input_begins(struct judge *judge)
{
	assert(judge->phase <= JUDGE_FED);
	judge->phase = JUDGE_FED;
}

struct fact_sink judge_sink(struct judge *judge)
{
	input_begins(judge);
	return aggregates_sink(&judge->aggregates);
}

void judge_plan(struct judge *judge, const struct plan *plan)
{
	input_begins(judge);
	assert(!judge->sweep.ranks.len);
	sweep_plan(&judge->sweep, plan);
}

void judge_ledger(struct judge *judge, const struct ledger_entry *entry)
{
	input_begins(judge);
	assert(judge->sweep.plan);
	sweep_entry(&judge->sweep, entry);
}

void judge_baseline(struct judge *judge, const struct judge *earlier)
{
	assert(earlier->phase == JUDGE_FINISHED);
	input_begins(judge);
	judge->earlier = earlier;
}

void judge_inventory(struct judge *judge, const struct inventory *inventory)
{
	input_begins(judge);
	inventories_add(&judge->inventories, judge->policy, inventory);
}

void judge_capture(struct judge *judge, const char *host_id, const char *host_name, uint64_t start)
{
	const struct aggregated_capture capture = { host_id, host_name, start };

	input_begins(judge);
	vec_push(&judge->aggregates.captures, capture);
}

void judge_captures_broken(struct judge *judge)
{
	input_begins(judge);
	judge->captures_broken = true;
}

void judge_loss(struct judge *judge, const struct judge_loss *loss)
{
	input_begins(judge);
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
