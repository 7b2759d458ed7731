// SPDX-License-Identifier: BSD-3-Clause
/*
 * WAIT-01: no rank makes the others wait. WAIT-02: every rank makes progress. WAIT-03: ranks enter
 * collectives together. Shares of the time for which all processes were observed.
 */
#include <math.h>

#include "site/judge/rules/rules.h"

/* Processes that called MPI, and how long they were observed, ns. */
struct observed {
	size_t processes;
	uint64_t span;
};

static struct observed observed(const struct aggregates *aggregates)
{
	struct observed sum = { 0 };

	for (size_t i = 0; i < aggregates->members.len; i++) {
		const struct member_time *time = &aggregates->members.data[i].time;

		if (!time->calls)
			continue;
		sum.processes++;
		sum.span += time->until > time->first ? time->until - time->first : 0;
	}
	return sum;
}

/* Without transfers no message is matched, and no wait is known. */
static bool unknown_waits(const struct rule_ctx *ctx, const struct observed *of)
{
	if (ctx->judge->sweep.plan) {
		found_nothing(ctx, VERDICT_SKIP, "a sweep's own traffic is no program's");
		return true;
	}
	if (!of->processes || !of->span) {
		found_nothing(ctx, VERDICT_SKIP, "no process called MPI");
		return true;
	}
	if (ctx->aggregates->totals.counted || level_missing(ctx->aggregates, LEVEL_UCT)) {
		found_nothing(ctx, VERDICT_UNKNOWN, "messages were not recorded");
		return true;
	}
	return false;
}

static void judge_share(const struct rule_ctx *ctx, struct subject subject, uint64_t ns,
			const struct observed *of, double most, const char *what)
{
	const double share = (double)ns / (double)of->span;
	struct finding *finding = found(ctx, share >= most ? VERDICT_FAIL : VERDICT_PASS, subject);

	finding->share = NAN;
	if (share < most)
		return;
	finding->expected = say(ctx->judge, "less than %.1f %% of the run", 100 * most);
	finding->seen = say(ctx->judge, "%s %s, %.1f %% of the run of all processes", what,
			    say_time(ctx->judge, (double)ns), 100 * share);
}

void rule_no_straggler(const struct rule_ctx *ctx)
{
	const struct observed of = observed(ctx->aggregates);

	if (unknown_waits(ctx, &of))
		return;
	for (size_t i = 0; i < ctx->aggregates->members.len; i++) {
		const struct member_time *time = &ctx->aggregates->members.data[i].time;

		if (time->calls)
			judge_share(ctx, process_subject(ctx, (int)i), time->caused, &of,
				    ctx->settings->wait_01.share, "others waited for it");
	}
}

void rule_progress(const struct rule_ctx *ctx)
{
	const struct observed of = observed(ctx->aggregates);

	if (unknown_waits(ctx, &of))
		return;
	for (size_t i = 0; i < ctx->aggregates->members.len; i++) {
		const struct member_time *time = &ctx->aggregates->members.data[i].time;

		if (time->calls)
			judge_share(ctx, process_subject(ctx, (int)i), time->late_progress, &of,
				    ctx->settings->wait_02.share, "others waited for its progress");
	}
}

void rule_balance(const struct rule_ctx *ctx)
{
	const struct observed of = observed(ctx->aggregates);
	uint64_t collective = 0;

	if (unknown_waits(ctx, &of))
		return;
	for (size_t i = 0; i < ctx->aggregates->members.len; i++)
		collective += ctx->aggregates->members.data[i].time.in_collectives;
	judge_share(ctx, subject_plain(SUBJECT_OTHER, "job"), collective, &of,
		    ctx->settings->wait_03.share, "processes waited in collectives");
}
