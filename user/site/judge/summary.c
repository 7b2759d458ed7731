// SPDX-License-Identifier: BSD-3-Clause
/* Counts of findings, and the exit status that follows. */
#include <assert.h>
#include <string.h>

#include "base/exit_codes.h"
#include "base/map.h"
#include "site/judge/internal.h"
#include "site/judge/judge.h"

/* ---- summary ---- */

static void count_nodes(const struct judge *judge, struct judge_summary *summary)
{
	const char *found[SUBJECT_NODES];
	struct map failed = { 0 };

	for (size_t i = 0; i < judge->findings.len; i++) {
		const struct finding *finding = &judge->findings.data[i];
		size_t count = 0;

		if (finding->verdict == VERDICT_FAIL && finding->severity != SEVERITY_INFO)
			count = subject_nodes(&finding->subject, &judge->names, found);
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
		if (finding->verdict != VERDICT_FAIL && finding->verdict != VERDICT_UNKNOWN)
			continue;
		if (finding->severity == SEVERITY_INFO)
			summary.info++;
		else if (finding->verdict == VERDICT_UNKNOWN)
			summary.unknown++;
		else if (finding->severity == SEVERITY_CRITICAL)
			summary.critical++;
		else
			summary.warning++;
	}
	count_nodes(judge, &summary);
	return summary;
}

int judge_status(const struct judge *judge, bool warn_ok)
{
	struct judge_summary summary = judge_summary(judge);

	if (summary.critical)
		return UCXBPF_CHECK_CRITICAL;
	if (summary.unknown)
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
