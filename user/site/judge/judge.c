// SPDX-License-Identifier: BSD-3-Clause
/* The life of a judgement: its input, its stages in order, and its summary. */
#include "site/judge/judge.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/exit_codes.h"
#include "base/units.h"
#include "site/judge/aggregates/sweep.h"
#include "site/judge/words/words.h"
#include "site/judge/internal.h"
#include "site/judge/rules/rules.h"

const char *say(struct judge *judge, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	vec_push(&judge->made, text);
	return text;
}

const char *say_bytes(struct judge *judge, uint64_t bytes)
{
	char text[40];

	unit_bytes(text, sizeof(text), bytes, true);
	return say(judge, "%s", text);
}

const char *say_time(struct judge *judge, double ns)
{
	char text[32];

	unit_time(text, sizeof(text), (uint64_t)ns, false);
	return say(judge, "%s", text);
}

/* ---- input and stages ---- */

const struct verdict_words verdict_words[VERDICTS] = {
	[VERDICT_PASS] = { "PASS", "pass", "pass" },
	[VERDICT_FAIL] = { "FAIL", "fail", "FAIL" },
	[VERDICT_UNKNOWN] = { "UNKNOWN", "unknown", "UNKN" },
	[VERDICT_SKIP] = { "SKIP", "skip", "skip" },
	[VERDICT_WAIVED] = { "WAIVED", "waived", "waived" },
};

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

void judge_feeds(struct judge *judge)
{
	assert(judge->phase <= JUDGE_FED);
	judge->phase = JUDGE_FED;
}

struct fact_sink judge_sink(struct judge *judge)
{
	judge_feeds(judge);
	return aggregates_sink(&judge->aggregates);
}

void judge_plan(struct judge *judge, const struct plan *plan)
{
	judge_feeds(judge);
	assert(!judge->sweep.ranks.len);
	sweep_plan(&judge->sweep, plan);
}

void judge_ledger(struct judge *judge, const struct ledger_entry *entry)
{
	judge_feeds(judge);
	assert(judge->sweep.plan);
	sweep_entry(&judge->sweep, entry);
}

void judge_baseline(struct judge *judge, const struct judge *earlier)
{
	assert(earlier->phase == JUDGE_FINISHED);
	judge_feeds(judge);
	judge->earlier = earlier;
}

void judge_inventory(struct judge *judge, const struct inventory *inventory)
{
	judge_feeds(judge);
	inventories_add(&judge->inventories, judge->policy, inventory);
}

void judge_capture(struct judge *judge, const char *host_id, const char *host_name, uint64_t start)
{
	const struct aggregated_capture capture = { host_id, host_name, start };

	judge_feeds(judge);
	vec_push(&judge->aggregates.captures, capture);
}

void judge_captures_broken(struct judge *judge)
{
	judge_feeds(judge);
	judge->captures_broken = true;
}

void judge_loss(struct judge *judge, const struct judge_loss *loss)
{
	judge_feeds(judge);
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
		judge_rule(judge, &catalogue[i]);
	judge_doubt(judge);
	judge_explain(judge);
	judge_modules(judge);
	judge_causes(judge);
	judge_waive(judge, today);
	qsort(judge->findings.data, judge->findings.len, sizeof(*judge->findings.data), by_rule);
	judge->phase = JUDGE_FINISHED;
}

size_t judge_findings(const struct judge *judge, const struct finding **findings)
{
	assert(judge->phase == JUDGE_FINISHED);
	*findings = judge->findings.data;
	return judge->findings.len;
}

/* ---- summary ---- */

static void count_nodes(const struct judge *judge, struct judge_summary *summary)
{
	const char *found[SUBJECT_NODES];
	struct map failed = { 0 };

	for (size_t i = 0; i < judge->findings.len; i++) {
		const struct finding *finding = &judge->findings.data[i];
		size_t count = finding->verdict == VERDICT_FAIL
				       ? subject_nodes(&finding->subject, &judge->names, found)
				       : 0;

		while (count)
			map_insert(&failed, (uintptr_t)found[--count], 0, NULL);
	}
	summary->nodes = judge->names.kept.all.len;
	summary->failed_nodes = failed.used;
	map_release(&failed);
}

uint64_t transfers_judged(const struct judge *judge)
{
	uint64_t count = 0;

	for (size_t i = 0; i < judge->aggregates.cells.len; i++)
		count += judge->aggregates.cells.data[i].count;
	return count;
}

/* Findings are in the order of rules. */
size_t rules_judged(const struct judge *judge)
{
	const struct catalogue_rule *before = NULL;
	size_t count = 0;

	for (size_t i = 0; i < judge->findings.len; i++) {
		const struct finding *finding = &judge->findings.data[i];

		if (finding->verdict == VERDICT_SKIP || finding->rule == before)
			continue;
		before = finding->rule;
		count++;
	}
	return count;
}

struct judge_summary judge_summary(const struct judge *judge)
{
	struct judge_summary summary = { 0 };

	assert(judge->phase == JUDGE_FINISHED);
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
		return UCXBPF_CHECK_CRITICAL;
	if (summary.verdicts[VERDICT_UNKNOWN])
		return UCXBPF_CHECK_UNKNOWN;
	return summary.warning && !warn_ok ? UCXBPF_CHECK_WARNING : UCXBPF_CHECK_PASS;
}

/* ---- nodes and pairs to be looked at again ---- */

/* A pair that is slow with small and with large messages has two findings, one behind the other. */
static void suspect_pair(const struct subject *pair, struct judge_suspects *suspects)
{
	const struct judge_pair *last = suspects->pairs.data + suspects->pairs.len - 1;

	if (!suspects->pairs.len || last->one != pair->node || last->other != pair->other)
		vec_push(&suspects->pairs, ((struct judge_pair){ pair->node, pair->other }));
}

static void suspect(const struct judge *judge, const struct finding *finding,
		    struct judge_suspects *suspects)
{
	bool wanted = policy_wants(judge->policy, finding->rule, "confirm");

	if (finding->rule == &catalogue[RULE_PERF_01]) {
		if (finding->verdict == VERDICT_PASS)
			vec_push(&suspects->sound, finding->subject.node);
		else if (finding->verdict == VERDICT_FAIL && wanted)
			vec_push(&suspects->slow, finding->subject.node);
	} else if (finding->rule == &catalogue[RULE_PERF_02]) {
		if (finding->verdict == VERDICT_FAIL && wanted)
			suspect_pair(&finding->subject, suspects);
	}
}

void judge_suspects(const struct judge *judge, struct judge_suspects *suspects)
{
	const struct plan *plan = judge->sweep.plan;

	assert(judge->phase == JUDGE_FINISHED);
	*suspects = (struct judge_suspects){ 0 };
	for (size_t i = 0; plan && !*plan->base && i < judge->findings.len; i++)
		suspect(judge, &judge->findings.data[i], suspects);
}

void judge_suspects_release(struct judge_suspects *suspects)
{
	vec_release(&suspects->slow);
	vec_release(&suspects->sound);
	vec_release(&suspects->pairs);
}
