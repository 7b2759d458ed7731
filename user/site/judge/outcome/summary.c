// SPDX-License-Identifier: BSD-3-Clause
/* What came of it in all. */
#include "site/judge/exhibits/named.h"
#include "site/judge/internal.h"

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
