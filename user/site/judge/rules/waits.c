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

static bool is_of(const struct member *member, const struct job *job)
{
	const char *name = member->fact.job;

	return job->name == name || (job->name && name && !strcmp(job->name, name));
}

static struct job *job_of(jobs *jobs, const struct member *member)
{
	for (size_t i = 0; i < jobs->len; i++)
		if (is_of(member, &jobs->data[i]))
			return &jobs->data[i];
	vec_push(jobs, (struct job){ .name = member->fact.job });
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
		found_nothing(ctx, VERDICT_SKIP, "a sweep's traffic does not belong to a program");
	else if (jobs->len &&
		 (ctx->aggregates->totals.counted || level_missing(ctx->aggregates, LEVEL_UCT)))
		found_nothing(ctx, VERDICT_UNKNOWN, "messages were not recorded");
	else
		return false;
	return true;
}

/* A share; the rule defines its whole. */
struct share {
	const char *sums; /* word 0 of SUM_WAIT */
	const char *what; /* "others waited for it" */
	const char *site; /* "for its": MPI_Recv at x.c:3 */
	double most;
	uint64_t hidden; /* ns that are in no sum, at most: of unknown processes and jobs */
};

/*
 * Where most of the time was spent, by the process, or by any of the job if that is -1; "": not
 * known.
 */
static const char *most_where(const struct rule_ctx *ctx, const struct share *share, int process,
			      const struct job *job)
{
	const struct aggregates *aggregates = ctx->aggregates;
	const struct sum *most = NULL;

	for (size_t i = 0; i < aggregates->sums.list.len; i++) {
		const struct sum *sum = &aggregates->sums.list.data[i];

		if (sum->kind == SUM_WAIT && sum->process >= 0 &&
		    !strcmp(sum->words[0], share->sums) && sum->words[1] &&
		    (process < 0 ? is_of(&aggregates->members.data[sum->process], job)
				 : sum->process == process) &&
		    (!most || sum->extra > most->extra))
			most = sum;
	}
	if (!most)
		return "";
	return say(ctx->judge, "; most %s %s%s%s", share->site, most->words[1],
		   most->words[2] ? " at " : "", most->words[2] ? most->words[2] : "");
}

/* process: -1: of all of the job */
static void judge_share(const struct rule_ctx *ctx, struct subject subject, int process,
			uint64_t ns, const struct job *job, const struct share *share)
{
	const double limit = share->most * (double)job->span;
	const bool fails = (double)ns >= limit;
	struct finding *finding;

	/* a process of no known node, a job without times */
	if (!subject.text || !job->span)
		return;
	if (!fails && (double)(ns + job->open) >= limit) {
		found_why(ctx, VERDICT_UNKNOWN, subject,
			  "calls have not returned, and their waits are in no sum");
		return;
	}
	if (!fails && (double)(ns + job->open + share->hidden) >= limit) {
		found_why(ctx, VERDICT_UNKNOWN, subject,
			  say(ctx->judge, "unknown waits may be up to %s long",
			      say_time(ctx->judge, (double)share->hidden)));
		return;
	}
	finding = found(ctx, fails ? VERDICT_FAIL : VERDICT_PASS, subject);
	finding->share = NAN;
	if (!fails)
		return;
	finding->expected = say(ctx->judge, "less than %.1f %% of the run", 100 * share->most);
	finding->seen = say(ctx->judge, "%s %s, %.1f %% of the run of all processes%s", share->what,
			    say_time(ctx->judge, (double)ns), 100 * (double)ns / (double)job->span,
			    most_where(ctx, share, process, job));
}

/* One finding per rank; ns_of: how long others waited for it. */
static void judge_ranks(const struct rule_ctx *ctx,
			uint64_t (*ns_of)(const struct member_time *time),
			const struct share *share)
{
	jobs jobs = { 0 };
	size_t count;

	find_jobs(ctx, &jobs);
	count = unknown_waits(ctx, &jobs) ? 0 : ctx->aggregates->members.len;
	for (size_t i = 0; i < count; i++) {
		const struct member *member = &ctx->aggregates->members.data[i];

		if (member_in_mpi(member))
			judge_share(ctx, process_subject(ctx, (int)i), (int)i, ns_of(&member->time),
				    job_of(&jobs, member), share);
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
	const struct fact_hidden *hidden = &ctx->aggregates->totals.waits_hidden;

	judge_ranks(ctx, caused,
		    &(struct share){ WAIT_CAUSED, "others waited for it", "for its",
				     ctx->settings->wait_01.share, hidden->waits });
}

void rule_progress(const struct rule_ctx *ctx)
{
	const struct fact_hidden *hidden = &ctx->aggregates->totals.waits_hidden;

	judge_ranks(ctx, late_progress,
		    &(struct share){ WAIT_PROGRESS, "others waited for its progress", "until its",
				     ctx->settings->wait_02.share, hidden->progress });
}

void rule_balance(const struct rule_ctx *ctx)
{
	const struct share share = { WAIT_COLLECTIVES, "processes waited in collectives", "in",
				     ctx->settings->wait_03.share,
				     ctx->aggregates->totals.waits_hidden.collectives };
	jobs jobs = { 0 };
	size_t count;

	find_jobs(ctx, &jobs);
	count = unknown_waits(ctx, &jobs) ? 0 : jobs.len;
	for (size_t i = 0; i < count; i++) {
		const struct job *job = &jobs.data[i];
		const char *name = jobs.len == 1 ? "job"
						 : say(ctx->judge, "job %s",
						       job->name ? job->name : "unknown");

		judge_share(ctx, subject_plain(SUBJECT_JOB, name), -1, job->in_collectives, job,
			    &share);
	}
	vec_release(&jobs);
}
