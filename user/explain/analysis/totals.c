// SPDX-License-Identifier: BSD-3-Clause
/* Facts about captures: how they were made, their cost, their losses. */
#include "explain/analysis/internal.h"

#include <stdio.h>
#include <string.h>

static uint64_t number(const json_t *side, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(side, name));

	return value > 0 ? (uint64_t)value : 0;
}

/* level: -1: not told. */
static void add_level(struct fact_self *self, int level, uint64_t from, uint64_t to)
{
	if (level >= 0)
		self->levels[level] = true;
	for (int i = 0; i < LEVELS && to > from; i++)
		self->level_ns[i] += level < 0 || i <= level ? to - from : 0;
}

static void add_levels(struct fact_self *self, const struct capture *capture, uint64_t last)
{
	const uint64_t ended = capture->ended ? capture->ended : last;

	for (size_t i = 0; i < capture->windows.len; i++) {
		const struct window *window = &capture->windows.data[i];

		add_level(self, window->level, window->from, window->to ? window->to : last);
	}
	if (!capture->windows.len)
		add_level(self, capture->level, capture->started, ended);
}

static void add_cost(struct fact_self *self, const json_t *side)
{
	const char *unknown = json_string_value(json_object_get(side, "kernel_unknown"));
	uint64_t peak = number(side, "memory_peak");

	self->known++;
	self->records += number(side, "records");
	self->bytes += number(side, "bytes");
	self->cpu_ns += number(side, "cpu_ns");
	if (peak > self->memory_peak)
		self->memory_peak = peak;
	if (unknown)
		snprintf(self->kernel_unknown, sizeof(self->kernel_unknown), "%s", unknown);
	if (!json_object_get(side, "kernel_ns"))
		return;
	if (json_object_get(side, "kernel_spread_ns")) {
		self->spread_known++;
		self->kernel_spread += number(side, "kernel_spread_ns");
	}
	self->kernel_known++;
	self->kernel_ns += number(side, "kernel_ns");
	self->hits += number(side, "hits");
	self->sampled_hits += number(side, "sampled_hits");
}

static void add_consumer(struct fact_self *self, const json_t *side)
{
	self->drained_known++;
	self->threads += number(side, "threads");
	self->rings += number(side, "rings");
	self->ring_bytes += number(side, "ring_bytes");
	self->grown += number(side, "grown");
	self->drained += number(side, "records");
	self->drained_ns += number(side, "cpu_ns");
}

const json_t *side_last(const json_t *sides, const char *type)
{
	const json_t *side, *found = NULL;
	size_t i;

	json_array_foreach((json_t *)sides, i, side)
	{
		const char *t = json_string_value(json_object_get(side, "t"));

		if (t && !strcmp(t, type))
			found = side;
	}
	return found;
}

/* Adds one capture's side records. */
static void self_add(struct fact_self *self, const struct capture *capture, uint64_t last,
		     const json_t *sides)
{
	const json_t *cost = side_last(sides, "self"), *consumer = side_last(sides, "consumer");

	self->captures++;
	add_levels(self, capture, last);
	if (cost)
		add_cost(self, cost);
	if (consumer)
		add_consumer(self, consumer);
}

static struct fact_derived *derived_of(struct fact_totals *totals, const char *function)
{
	int at = 0;

	while (at < totals->derived_count && strcmp(totals->derived[at].function, function) < 0)
		at++;
	if (at < totals->derived_count && !strcmp(totals->derived[at].function, function))
		return &totals->derived[at];
	if (totals->derived_count == FACT_MAX_DERIVED)
		return NULL;
	memmove(&totals->derived[at + 1], &totals->derived[at],
		(size_t)(totals->derived_count++ - at) * sizeof(*totals->derived));
	totals->derived[at] = (struct fact_derived){ 0 };
	snprintf(totals->derived[at].function, sizeof(totals->derived[at].function), "%s",
		 function);
	return &totals->derived[at];
}

/* Each record has the sums up to then. */
static void add_derived(struct fact_totals *totals, const json_t *side)
{
	const json_t *functions = json_object_get(side, "functions"), *one;
	size_t i;

	json_array_foreach((json_t *)functions, i, one)
	{
		const char *name = json_string_value(json_object_get(one, "function"));
		struct fact_derived *derived = name ? derived_of(totals, name) : NULL;

		if (!derived)
			continue;
		derived->calls += number(one, "calls");
		derived->compared += number(one, "compared");
		derived->differing += number(one, "differing");
		derived->without += number(one, "without");
		derived->away_ns += number(one, "away_ns");
	}
}

static void add_short_sends(struct fact_short_sends *sums, const json_t *side)
{
	if (!side)
		return;
	sums->known = true;
	sums->transfers += number(side, "transfers");
	sums->compared += number(side, "compared");
	sums->differing += number(side, "differing");
	sums->without += number(side, "without");
	sums->unproven += number(side, "unproven");
	sums->away_ns += number(side, "away_ns");
}

static uint64_t stats_sum(const __u64 *by_kind)
{
	uint64_t sum = 0;

	for (int kind = 0; kind < UB_KINDS; kind++)
		sum += by_kind[kind];
	return sum;
}

uint64_t stats_dropped(const struct ub_stats *stats)
{
	return stats_sum(stats->dropped);
}

static uint64_t unsummed(const struct ub_stats *stats)
{
	static const enum ub_kind kinds[] = { UB_CALL, UB_OP, UB_XFER, UB_FRAGS, UB_POLLS };
	uint64_t sum = 0;

	/* counters of a damaged file may be anything */
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const unsigned int at = UB_COUNTER(kinds[i]);

		if (stats->dropped[at] > stats->folded[at])
			sum += stats->dropped[at] - stats->folded[at];
	}
	return sum;
}

/* Number of windows with all layers; a budget's windows name their step. */
static uint64_t full_windows(const struct capture *capture)
{
	uint64_t count = 0;

	for (size_t i = 0; i < capture->windows.len; i++)
		count += !capture->windows.data[i].step ||
			 capture->windows.data[i].level == LEVEL_UCT;
	return count;
}

static struct analysis_loss loss_of(const struct record_source *source,
				    const struct capture *capture, uint64_t produced,
				    uint64_t stored)
{
	uint64_t dropped = stats_dropped(&source->stats);
	uint64_t thinned = stats_sum(source->stats.thinned);
	/* a record that reports losses is not lost data itself */
	uint64_t other = thinned + source->stats.dropped[UB_LOSS];
	uint64_t damaged = source_damage(source);

	return (struct analysis_loss){
		.lost = dropped > other ? dropped - other : 0,
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
		const struct capture *capture, uint64_t stored, uint64_t last,
		struct analysis_loss *loss)
{
	const struct ub_stats *stats = &source->stats;
	uint64_t produced = 0;

	for (size_t i = 0; i < sizeof(stats->produced) / sizeof(*stats->produced); i++)
		produced += stats->produced[i];
	/* the counters of a capture without an end are those of an earlier moment */
	if (source->trimmed || (source->incomplete && produced < stored + stats_dropped(stats)))
		produced = stored + stats_dropped(stats);
	*loss = loss_of(source, capture, produced, stored);
	totals->captures++;
	totals->counted += capture->counted;
	if (capture->counted)
		totals->timed_every = capture->timed_every;
	totals->produced += produced;
	totals->stored += stored;
	totals->thinned += loss->thinned;
	totals->lost += loss->lost + loss->missing;
	totals->unsummed += unsummed(stats);
	totals->partial += loss->missing || loss->broken || loss->unseen;
	totals->damaged_bytes += loss->damaged;
	/* a span that finds no free frame is dropped as well, and not told apart */
	if (loss->lost)
		reason_add(totals->dropped,
			   stats->deep ? "ring full or nested too deep" : "ring full", loss->lost);
	if (stats->dropped[UB_LOSS])
		reason_add(totals->dropped, FACT_LOSS_NOTICES, stats->dropped[UB_LOSS]);
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
	if (source->unknown)
		reason_add(totals->notes, "side records of an unknown kind", source->unknown);
	if (source->incomplete)
		reason_add(totals->notes, source->incomplete, 1);
	totals->calls_missing += loss->lost || loss->thinned || loss->missing || loss->broken ||
				 loss->unseen || capture->late_mpi;
	totals->late_mpi += capture->late_mpi > 0;
	self_add(&totals->self, capture, last, source->sides);
	add_derived(totals, side_last(source->sides, "derived"));
	add_short_sends(&totals->short_sends,
			json_object_get(side_last(source->sides, "derived"), "short_sends"));
	for (size_t i = 0; i < capture->notes.len; i++)
		reason_add(totals->notes, capture->notes.data[i], 1);
	return loss->lost || loss->thinned || loss->windows || loss->spans || loss->missing ||
	       loss->unseen || loss->broken;
}

/* A send that was refused before its probe went is as unproven as one that came later. */
static void add_left_unseen(struct fact_totals *totals)
{
	const struct fact_reason *reasons = totals->unmatched_sends;

	for (int i = 0; i < FACT_MAX_REASONS && reasons[i].reason; i++)
		if (totals->short_sends.away_ns && !strcmp(reasons[i].reason, FACT_LEFT_UNSEEN))
			totals->short_sends.unproven += reasons[i].count;
}

void totals_finish(struct fact_totals *totals)
{
	add_left_unseen(totals);
	if (totals->joins.contradicted)
		reason_add(totals->notes, FACT_CONTRADICTED, totals->joins.contradicted);
	totals->sent.recorded = totals->sends;
	totals->calls.of += totals->calls.recorded;
	totals->ops.of += totals->ops.recorded;
	totals->transfers.of += totals->transfers.recorded;
	totals->sent.of += totals->sent.recorded;
}
