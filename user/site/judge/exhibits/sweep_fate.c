// SPDX-License-Identifier: BSD-3-Clause
/* Which rank of a sweep stopped, and which ones waited for it. */
#include <signal.h>

#include "site/judge/exhibits/sweep.h"

bool sweep_silent(const struct sweep_rank *rank)
{
	return !rank->ended && !rank->stuck;
}

bool sweep_waits(const struct sweep_rank *rank)
{
	return rank->stuck && rank->stuck != STUCK_STOPPED;
}

static const uint32_t crashes[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };

/* Half of what Open MPI 4.1 waits before it ends a job that has lost a rank. */
#define BEFORE_OTHERS_NS 500000000ull

bool sweep_died(const struct sweep_rank *rank)
{
	if (rank->exit_signal && rank->outlived_ns >= BEFORE_OTHERS_NS)
		return sweep_silent(rank);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
		if (rank->exit_signal == crashes[i])
			return sweep_silent(rank);
	return false;
}

/* All of them had the time to write: their own, or what a launcher leaves those that it ends. */
static enum sweep_fate by_ledgers(const struct sweep_job *job, const struct sweep_rank *rank)
{
	bool silent = sweep_silent(rank);

	if (rank->stuck == STUCK_STOPPED)
		return FATE_HANGS;
	/* a launcher that lets the stopped one go on may leave others no time */
	if (job->stopped && !job->too_long)
		return silent ? FATE_TAKEN : FATE_WAITED;
	if (job->stopped || job->silent)
		return silent ? FATE_HANGS : FATE_WAITED;
	/* all of them ran, none waited too long: somebody ended the job */
	if (!job->too_long)
		return FATE_UNKNOWN;
	return rank->waits_to >= 0 ? FATE_STUCK : FATE_WAITED;
}

enum sweep_fate sweep_fate(const struct sweep *sweep, const struct sweep_rank *rank)
{
	const struct sweep_job *job = &sweep->jobs.data[rank->job];

	if (rank->ended)
		return FATE_ENDED;
	if (sweep_died(rank))
		return FATE_HANGS;
	if (job->died)
		return sweep_waits(rank) ? FATE_WAITED : FATE_TAKEN;
	/* nobody waited: the whole job was stopped, or ended */
	return job->waiting ? by_ledgers(job, rank) : FATE_UNKNOWN;
}

const struct sweep_rank *sweep_culprit(const struct sweep *sweep, uint32_t job)
{
	for (size_t i = 0; i < sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &sweep->ranks.data[i];
		enum sweep_fate fate = sweep_fate(sweep, rank);

		if (rank->job == job && (fate == FATE_HANGS || fate == FATE_STUCK))
			return rank;
	}
	return NULL;
}

const struct sweep_rank *sweep_rank_of_member(const struct sweep *sweep, int member)
{
	const uint64_t *at = member < 0 ? NULL : map_find(&sweep->by_member, member, 0);

	return at ? &sweep->ranks.data[*at - 1] : NULL;
}
