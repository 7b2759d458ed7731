// SPDX-License-Identifier: BSD-3-Clause
#include "site/judge/verdict/footer.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "site/judge/exhibits/totals.h"
#include "site/judge/verdict/drain.h"

uint64_t transfers_judged(const struct judge *judge)
{
	uint64_t count = 0;

	for (size_t i = 0; i < judge->exhibits.cells.len; i++)
		count += judge->exhibits.cells.data[i].count;
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

void text_head(const struct judge *judge, FILE *out)
{
	struct judge_summary summary = judge_summary(judge);
	char hash[65], transfers[32], lost[32];
	char *site = text_plain(judge->policy->site ? judge->policy->site : "");

	policy_hash(judge->policy, hash);
	unit_count(transfers, sizeof(transfers), transfers_judged(judge), true);
	unit_count(lost, sizeof(lost), reasons_sum(judge->exhibits.totals.dropped), true);
	fprintf(out,
		"ucxbpf check%s%s  policy sha256:%.12s  nodes %zu  transfers %s  records lost %s\n",
		*site ? " " : "", site, hash, summary.nodes, transfers, lost);
	free(site);
}

static void put_loss(const struct judge *judge, FILE *out)
{
	const struct fact_totals *totals = &judge->exhibits.totals;
	uint64_t ends = totals->sends + totals->receives;
	uint64_t open = reasons_sum(totals->unmatched_sends) +
			reasons_sum(totals->unmatched_receives) + totals->ambiguous;
	char unknown[32], bytes[32];

	unit_bytes(unknown, sizeof(unknown), totals->unexplained_bytes, false);
	unit_bytes(bytes, sizeof(bytes), totals->data_bytes, false);
	fprintf(out,
		"evidence  %" PRIu64 " of %" PRIu64 " records lost; %s of %s without an operation; "
		"%" PRIu64 " of %" PRIu64 " ends of messages without the other%s\n",
		reasons_sum(totals->dropped), totals->produced, unknown, bytes, open, ends,
		judge->captures_broken || losses_sum(&judge->losses, LOSS_FILES)
			? "; a file is cut short or cannot be read"
			: "");
}

/* To be copied into a shell: a reason has no quotes, a name is letters and digits. */
static void put_drains(const struct judge *judge, FILE *out)
{
	struct drains drains;

	drains_make(&drains, judge);
	for (size_t i = 0; i < drains.list.len; i++)
		fprintf(out, "%s scontrol update NodeName=%s State=DRAIN Reason=\"%s\"\n",
			drains_allowed(&drains) ? "propose  " : "too many ",
			drains.list.data[i].nodes, drains.list.data[i].reason);
	if (!drains_allowed(&drains))
		fprintf(out,
			"too many  %zu nodes, act.max_drain of the policy allows %zu: nothing is "
			"proposed, look for what they have in common\n",
			drains.nodes, drains.most);
	for (size_t i = 0; i < drains.refused.len; i++) {
		char *nodes = text_plain(drains.refused.data[i].nodes);

		fprintf(out, "no drain  %s: %s\n", nodes, drains.refused.data[i].why);
		free(nodes);
	}
	drains_release(&drains);
}

static const char *const words[] = { "PASS", "PASS, with warnings", "FAIL", "UNKNOWN" };

void text_footer(const struct judge *judge, const struct judge_output *how, FILE *out)
{
	struct judge_summary summary = judge_summary(judge);

	put_drains(judge, out);
	text_coverage(judge, out);
	if (judge->exhibits.totals.captures)
		put_loss(judge, out);
	fprintf(out,
		"verdict %s  critical %zu  warning %zu  unknown %zu  waived %zu  passed %zu  "
		"skipped %zu  nodes that fail %zu of %zu  exit %d\n",
		words[judge_status(judge, false)], summary.critical, summary.warning,
		summary.verdicts[VERDICT_UNKNOWN], summary.verdicts[VERDICT_WAIVED],
		summary.verdicts[VERDICT_PASS], summary.verdicts[VERDICT_SKIP],
		summary.failed_nodes, summary.nodes, judge_status(judge, how->warn_ok));
}
