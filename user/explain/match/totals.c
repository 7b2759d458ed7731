// SPDX-License-Identifier: BSD-3-Clause
#include "explain/match/totals.h"

#include <string.h>

#include "explain/match/self.h"

static uint64_t stats_sum(const __u64 *by_kind)
{
	uint64_t sum = 0;

	for (int kind = 0; kind < 16; kind++)
		sum += by_kind[kind];
	return sum;
}

uint64_t stats_dropped(const struct ub_stats *stats)
{
	return stats_sum(stats->dropped);
}

static uint64_t unsummed(const struct ub_stats *stats)
{
	static const enum ub_kind kinds[] = { UB_CALL, UB_OP, UB_XFER, UB_FRAGS };
	uint64_t sum = 0;

	/* counters of a damaged file may be anything */
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (stats->dropped[kinds[i]] > stats->folded[kinds[i]])
			sum += stats->dropped[kinds[i]] - stats->folded[kinds[i]];
	return sum;
}

/* Windows with all layers; those of a budget name what they have. */
static uint64_t full_windows(const struct capture *capture)
{
	uint64_t count = 0;

	for (size_t i = 0; i < capture->windows.len; i++) {
		const char *step = capture->windows.data[i].step;

		count += !step || !strcmp(step, "uct") || !strcmp(step, "windows");
	}
	return count;
}

static struct analysis_loss loss_of(const struct record_source *source,
				    const struct capture *capture, uint64_t produced,
				    uint64_t stored)
{
	uint64_t dropped = stats_dropped(&source->stats);
	uint64_t thinned = stats_sum(source->stats.thinned);
	uint64_t damaged = source->damage ? source->damage(source->ctx) : source->damaged;

	return (struct analysis_loss){
		.lost = dropped > thinned ? dropped - thinned : 0,
		.thinned = thinned,
		.windows = capture->windows.len - full_windows(capture),
		.spans = full_windows(capture),
		.missing = produced > stored + dropped ? produced - stored - dropped : 0,
		.unseen = source->stats.task_nomem,
		.damaged = damaged,
		.broken = damaged || source->incomplete,
	};
}

bool totals_add(struct fact_totals *totals, const struct record_source *source,
		const struct capture *capture, uint64_t stored, struct analysis_loss *loss)
{
	const struct ub_stats *stats = &source->stats;
	uint64_t produced = 0;

	for (size_t i = 0; i < sizeof(stats->produced) / sizeof(*stats->produced); i++)
		produced += stats->produced[i];
	/* the counters of a capture without an end are those of an earlier moment */
	if (source->incomplete && produced < stored + stats_dropped(stats))
		produced = stored + stats_dropped(stats);
	*loss = loss_of(source, capture, produced, stored);
	totals->captures++;
	totals->counted += capture->counted;
	if (capture->counted)
		totals->timed_every = capture->timed_every;
	totals->produced += produced;
	totals->stored += stored;
	totals->thinned += loss->thinned;
	totals->unsummed += unsummed(stats);
	totals->partial += loss->missing || loss->broken || loss->unseen;
	totals->damaged_bytes += loss->damaged;
	if (loss->lost)
		reason_add(totals->dropped, "ring full", loss->lost);
	if (loss->thinned)
		reason_add(totals->dropped, "detail thinned", loss->thinned);
	if (loss->missing)
		reason_add(totals->dropped, "not in the file", loss->missing);
	if (stats->lost_returns)
		reason_add(totals->notes, "returns never seen", stats->lost_returns);
	if (stats->deep)
		reason_add(totals->notes, "frames nested too deep", stats->deep);
	if (stats->task_nomem)
		reason_add(totals->notes, "hits without task storage", stats->task_nomem);
	if (loss->damaged)
		reason_add(totals->notes, "damaged bytes skipped", loss->damaged);
	if (source->incomplete)
		reason_add(totals->notes, source->incomplete, 1);
	totals->calls_missing += loss->lost || loss->thinned || loss->missing || loss->broken ||
				 loss->unseen || capture->late_mpi;
	self_add(&totals->self, source->sides);
	for (size_t i = 0; i < capture->notes.len; i++)
		reason_add(totals->notes, capture->notes.data[i], 1);
	return loss->lost || loss->thinned || loss->windows || loss->spans || loss->missing ||
	       loss->unseen || loss->broken;
}

void totals_detail(struct fact_totals *totals)
{
	totals->sent.recorded = totals->sends;
	totals->calls.of += totals->calls.recorded;
	totals->ops.of += totals->ops.recorded;
	totals->transfers.of += totals->transfers.recorded;
	totals->sent.of += totals->sent.recorded;
}
