// SPDX-License-Identifier: BSD-3-Clause
/*
 * WAIT-01: no rank makes the others wait. WAIT-02: every rank makes progress. WAIT-03: ranks enter
 * collectives together. Shares of the time for which all processes of a job were observed.
 */
#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "site/judge/rules/rules.h"

/* The processes of a job that called MPI, or have been in a call since before the trace. */
struct job {
	const char *name; /* NULL: those of which it is not known */
	uint64_t span; /* ns, for which they were observed */
	uint64_t in_collectives; /* ns that they waited there */
	uint64_t open; /* ns in calls that have not returned: in no wait yet */
};

typedef VEC(struct job) jobs;

static struct job *job_of(jobs *jobs, const struct member *member)
{
	const char *name = member->fact.job;

	for (size_t i = 0; i < jobs->len; i++) {
		struct job *job = &jobs->data[i];

		if (job->name == name || (job->name && name && !strcmp(job->name, name)))
			return job;
	}
	vec_push(jobs, (struct job){ .name = name });
	return &jobs->data[jobs->len - 1];
}

static void find_jobs(const struct rule_ctx *ctx, jobs *jobs)
{
	for (size_t i = 0; i < ctx->aggregates->members.len; i++) {
		const struct member *member = &ctx->aggregates->members.data[i];
		const struct member_time *time = &member->time;
		struct job *job;

		if (!member_in_mpi(member))
			continue;
		job = job_of(jobs, member);
		job->span += time->until > time->first ? time->until - time->first : 0;
		job->in_collectives += time->in_collectives;
		job->open += time->open;
	}
}

/* Why nothing can be judged. Without transfers no message is matched, and no wait is known. */
static bool unknown_waits(const struct rule_ctx *ctx, const jobs *jobs)
{
	if (ctx->judge->sweep.plan)
		found_nothing(ctx, VERDICT_SKIP, "a sweep's own traffic is no program's");
	else if (jobs->len &&
		 (ctx->aggregates->totals.counted || level_missing(ctx->aggregates, LEVEL_UCT)))
		found_nothing(ctx, VERDICT_UNKNOWN, "messages were not recorded");
	else
		return false;
	return true;
}

static void judge_share(const struct rule_ctx *ctx, struct subject subject, uint64_t ns,
			const struct job *job, double most, const char *what)
{
	const double limit = most * (double)job->span;
	const bool fails = (double)ns >= limit;
	struct finding *finding;

	/* a process of no known node, a job without times */
	if (!subject.text || !job->span)
		return;
	if (!fails && (double)(ns + job->open) >= limit) {
		found_why(ctx, VERDICT_UNKNOWN, subject,
			  "calls have not returned, and what they wait for is in no sum");
		return;
	}
	finding = found(ctx, fails ? VERDICT_FAIL : VERDICT_PASS, subject);
	finding->share = NAN;
	if (!fails)
		return;
	finding->expected = say(ctx->judge, "less than %.1f %% of the run", 100 * most);
	finding->seen = say(ctx->judge, "%s %s, %.1f %% of the run of all processes", what,
			    say_time(ctx->judge, (double)ns), 100 * (double)ns / (double)job->span);
}

/* One finding per rank; ns_of: how long others waited for it. */
static void judge_ranks(const struct rule_ctx *ctx,
			uint64_t (*ns_of)(const struct member_time *time), double most,
			const char *what)
{
	jobs jobs = { 0 };
	size_t count;

	find_jobs(ctx, &jobs);
	count = unknown_waits(ctx, &jobs) ? 0 : ctx->aggregates->members.len;
	for (size_t i = 0; i < count; i++) {
		const struct member *member = &ctx->aggregates->members.data[i];

		if (member_in_mpi(member))
			judge_share(ctx, process_subject(ctx, (int)i), ns_of(&member->time),
				    job_of(&jobs, member), most, what);
	}
	vec_release(&jobs);
}

static uint64_t caused(const struct member_time *time)
{
	return time->caused;
}

static uint64_t late_progress(const struct member_time *time)
{
	return time->late_progress;
}

void rule_no_straggler(const struct rule_ctx *ctx)
{
	judge_ranks(ctx, caused, ctx->settings->wait_01.share, "others waited for it");
}

void rule_progress(const struct rule_ctx *ctx)
{
	judge_ranks(ctx, late_progress, ctx->settings->wait_02.share,
		    "others waited for its progress");
}

void rule_balance(const struct rule_ctx *ctx)
{
	jobs jobs = { 0 };
	size_t count;

	find_jobs(ctx, &jobs);
	count = unknown_waits(ctx, &jobs) ? 0 : jobs.len;
	for (size_t i = 0; i < count; i++) {
		const struct job *job = &jobs.data[i];
		const char *name = jobs.len == 1 ? "job"
						 : say(ctx->judge, "job %s",
						       job->name ? job->name : "unknown");

		judge_share(ctx, subject_plain(SUBJECT_OTHER, name), job->in_collectives, job,
			    ctx->settings->wait_03.share, "processes waited in collectives");
	}
	vec_release(&jobs);
}
