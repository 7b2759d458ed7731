// SPDX-License-Identifier: BSD-3-Clause
#include "match/totals.h"

#include "match/self.h"

uint64_t stats_dropped(const struct ub_stats *stats)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(stats->dropped) / sizeof(*stats->dropped); i++)
		sum += stats->dropped[i];
	return sum;
}

void totals_add(struct fact_totals *totals, const struct record_source *source,
		const struct capture *capture, uint64_t stored)
{
	const struct ub_stats *stats = &source->stats;
	uint64_t produced = 0, lost = stats_dropped(stats);

	for (size_t i = 0; i < sizeof(stats->produced) / sizeof(*stats->produced); i++)
		produced += stats->produced[i];
	totals->captures++;
	totals->counted += capture->counted;
	if (capture->counted)
		totals->timed_every = capture->timed_every;
	totals->produced += produced;
	totals->stored += stored;
	if (lost)
		reason_add(totals->dropped, "ring full", lost);
	if (produced > stored + lost)
		reason_add(totals->dropped, "not in the file", produced - stored - lost);
	if (stats->lost_returns)
		reason_add(totals->notes, "returns never seen", stats->lost_returns);
	if (stats->deep)
		reason_add(totals->notes, "frames nested too deep", stats->deep);
	if (stats->task_nomem)
		reason_add(totals->notes, "hits without task storage", stats->task_nomem);
	if (source->damaged)
		reason_add(totals->notes, "damaged bytes skipped", source->damaged);
	if (source->incomplete)
		reason_add(totals->notes, source->incomplete, 1);
	self_add(&totals->self, source->sides);
	for (size_t i = 0; i < capture->notes.len; i++)
		reason_add(totals->notes, capture->notes.data[i], 1);
}
