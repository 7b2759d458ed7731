// SPDX-License-Identifier: BSD-3-Clause
/*
 * PROTO-01, FAB-03: how times depend on the size, and how they spread. Also finds nodes whose times
 * are unusable, for all rules of times.
 */
#include <math.h>
#include <string.h>

#include "site/judge/rules/rules.h"
#include "site/judge/aggregates/times.h"

/* ---- nodes whose times tell nothing of a network ---- */

bool judges_all(const struct rule_ctx *ctx)
{
	return policy_wants(ctx->judge->policy, ctx->rule, "one_machine");
}

const char *times_unusable(const struct rule_ctx *ctx, int node)
{
	const struct sweep *sweep = &ctx->judge->sweep;

	return judges_all(ctx) || !sweep->unusable ? NULL : sweep->unusable[node];
}

bool times_usable(const struct rule_ctx *ctx, const struct sweep_transfer *transfer)
{
	return transfer->p50 > 0 &&
	       (judges_all(ctx) || sweep_times_usable(&ctx->judge->sweep, transfer));
}

bool skip_unusable_times(const struct rule_ctx *ctx)
{
	const struct plan *plan = ctx->judge->sweep.plan;
	size_t without = 0, alike = 0;

	for (size_t i = 0; i < plan->nodes.len; i++) {
		without += times_unusable(ctx, i) != NULL;
		alike += times_unusable(ctx, i) == times_unusable(ctx, 0);
	}
	if (without && alike == plan->nodes.len) {
		found_nothing(ctx, VERDICT_SKIP, times_unusable(ctx, 0));
		return true;
	}
	for (size_t i = 0; i < plan->nodes.len; i++)
		if (times_unusable(ctx, i))
			found_why(ctx, VERDICT_SKIP, subject_node(plan->nodes.data[i].name),
				  times_unusable(ctx, i));
	return without && without == plan->nodes.len;
}

/* ---- cohorts ---- */

/* Judges cohorts that differ in size alone together. */
static void judge_cohorts(const struct rule_ctx *ctx,
			  void (*judge)(const struct rule_ctx *ctx, const struct cohort *sizes,
					size_t count))
{
	struct times times;
	size_t to;

	times_make(&times, &ctx->judge->sweep, judges_all(ctx));
	for (size_t from = 0; from < times.cohorts.len; from = to) {
		const struct cohort *sizes = &times.cohorts.data[from];

		for (to = from;
		     to < times.cohorts.len && cohort_alike(sizes, &times.cohorts.data[to]);)
			to++;
		judge(ctx, sizes, to - from);
	}
	times_release(&times);
}

static struct subject subject_of(const struct rule_ctx *ctx, const struct cohort *cohort)
{
	char *name = cohort_name(cohort, ctx->judge->sweep.plan, ctx->judge->policy);
	struct subject subject = subject_plain(SUBJECT_TIMES, say(ctx->judge, "%s", name));

	free(name);
	return subject;
}

/* ---- PROTO-01 ---- */

#define LEAST_FOR_MEDIAN 10

/* The protocol of most messages of that size there; NULL: no capture shows one. */
static const char *protocol_at(const struct rule_ctx *ctx, const struct cohort *cohort)
{
	const struct aggregates *aggregates = ctx->aggregates;
	const struct traffic_cell *best = NULL;

	for (size_t i = 0; i < aggregates->cells.len; i++) {
		const struct traffic_cell *cell = &aggregates->cells.data[i];

		if (cell->protocol && cell->function && !strcmp(cell->function, "MPI_Isend") &&
		    cell_intra(cell) == cohort->intra && cell->least <= cohort->size &&
		    cohort->size <= cell->most && (!best || cell->bytes > best->bytes))
			best = cell;
	}
	return best ? best->protocol : NULL;
}

static const char *size_text(const struct rule_ctx *ctx, const struct cohort *cohort, double ns)
{
	const char *protocol = protocol_at(ctx, cohort);

	return say(ctx->judge, "%lu B take %s%s%s%s", (unsigned long)cohort->size,
		   say_time(ctx->judge, ns), protocol ? " (" : "", protocol ? protocol : "",
		   protocol ? ")" : "");
}

static uint32_t least_timed(const struct cohort *sizes, size_t count)
{
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i < count; i++)
		least = sizes[i].timed < least ? sizes[i].timed : least;
	return least;
}

/*
 * The highest hump: a size whose quick messages take longer than the slow ones of a larger size. By
 * this distance, noise does not make a hump.
 */
static void judge_humps(const struct rule_ctx *ctx, const struct cohort *sizes, size_t count)
{
	const struct cohort *high = NULL, *low = NULL;
	double worst = ctx->settings->proto_01.tolerance;
	struct finding *finding;

	if (least_timed(sizes, count) < LEAST_FOR_MEDIAN)
		return;
	for (size_t i = 0; i < count; i++)
		for (size_t k = i + 1; k < count; k++) {
			double ratio = sizes[i].median[P25] / sizes[k].median[P75];

			if (ratio <= worst)
				continue;
			worst = ratio;
			high = &sizes[i];
			low = &sizes[k];
		}
	finding = found(ctx, high ? VERDICT_FAIL : VERDICT_PASS, subject_of(ctx, &sizes[0]));
	finding->count = count;
	finding->expected = say(ctx->judge, "no size takes %.2f times as long as a larger one",
				ctx->settings->proto_01.tolerance);
	if (high)
		finding->seen = say(ctx->judge, "%s, %s", size_text(ctx, high, high->median[P50]),
				    size_text(ctx, low, low->median[P50]));
}

void rule_monotone(const struct rule_ctx *ctx)
{
	judge_cohorts(ctx, judge_humps);
}

/* ---- FAB-03 ---- */

#define LEAST_FOR_TAIL 100 /* of fewer, the 99th percentile is the longest */
#define LEAST_FOR_SPREAD 10

/* Judges the tail of the smallest size and the spread of the largest: latency and goodput. */
static void judge_tail(const struct rule_ctx *ctx, const struct cohort *sizes, size_t count)
{
	const struct cohort *least = &sizes[0], *most = &sizes[count - 1];
	double tail = least->median[P99] / least->median[P50];
	double spread = (most->median[P75] - most->median[P25]) / most->median[P50];
	bool long_tail =
		least->timed >= LEAST_FOR_TAIL && tail > ctx->settings->fab_03.p99_over_p50;
	bool wide = most->timed >= LEAST_FOR_SPREAD && spread > ctx->settings->fab_03.spread;
	struct finding *finding;

	if (sizes->intra || (least->timed < LEAST_FOR_TAIL && most->timed < LEAST_FOR_SPREAD))
		return;
	finding =
		found(ctx, long_tail || wide ? VERDICT_FAIL : VERDICT_PASS, subject_of(ctx, least));
	finding->count = least->ns[P50].list.len + most->ns[P50].list.len;
	finding->expected =
		say(ctx->judge, "p99 at most %.4g times p50, quartiles at most %.4g %% apart",
		    ctx->settings->fab_03.p99_over_p50, 100 * ctx->settings->fab_03.spread);
	if (long_tail)
		finding->seen = say(ctx->judge, "%lu B: p99 is %.1f times p50, %s",
				    (unsigned long)least->size, tail,
				    say_time(ctx->judge, least->median[P50]));
	else if (wide)
		finding->seen = say(ctx->judge, "%lu B: quartiles are %.0f %% of %s apart",
				    (unsigned long)most->size, 100 * spread,
				    say_time(ctx->judge, most->median[P50]));
}

void rule_tail(const struct rule_ctx *ctx)
{
	judge_cohorts(ctx, judge_tail);
}
