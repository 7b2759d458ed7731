// SPDX-License-Identifier: BSD-3-Clause
/* All of a sweep is in: ranks in order, the process of each, and how their jobs came to an end. */
#include <stdio.h>

#include "base/signals.h"
#include "site/judge/exhibits/sweep.h"

bool sweep_captured(const struct sweep *sweep, const char *host)
{
	return map_find(&sweep->captured, map_text(host), 0);
}

static int by_rank(const void *left, const void *right)
{
	const struct sweep_rank *a = left, *b = right;
	int order = (a->job > b->job) - (a->job < b->job);

	return order ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

/* Ledgers come in any order, and from evidence in another one. */
static void order_ranks(struct sweep *sweep)
{
	if (sweep->ranks.len)
		qsort(sweep->ranks.data, sweep->ranks.len, sizeof(*sweep->ranks.data), by_rank);
	for (size_t i = 0; i < sweep->ranks.len; i++)
		sweep_place_rank(sweep, i);
}

static void find_members(struct sweep *sweep, const struct exhibits *exhibits, struct map *by_pid)
{
	for (size_t i = 0; i < exhibits->members.len; i++) {
		const struct member *member = &exhibits->members.data[i];

		if (!member->fact.host_name)
			continue;
		map_insert(&sweep->captured, map_text(member->fact.host_name), 0, NULL);
		*map_insert(by_pid, map_text(member->fact.host_name), member->fact.pid, NULL) =
			1 + i;
	}
}

static void count_stopped(struct sweep *sweep, const struct sweep_rank *rank)
{
	struct sweep_job *job;

	while (sweep->jobs.len <= rank->job)
		vec_add(&sweep->jobs);
	job = &sweep->jobs.data[rank->job];
	job->waiting += sweep_waits(rank);
	job->too_long += rank->stuck == STUCK_TOO_LONG;
	job->stopped += rank->stuck == STUCK_STOPPED;
	job->silent += sweep_silent(rank);
	job->died += sweep_died(rank);
}

static const char *gone(struct sweep *sweep, const struct sweep_rank *rank)
{
	char how[40], text[64];

	if (rank->stuck == STUCK_STOPPED)
		return "hangs: it was stopped";
	if (!sweep_died(rank))
		return "hangs or has died";
	signal_text(how, sizeof(how), rank->exit_signal);
	snprintf(text, sizeof(text), "has died of %s", how);
	return sweep_keep(sweep, text);
}

/* In pid namespaces of their own, processes of one host may have the same pid. */
static void take_process(struct sweep_rank *rank, struct traced *traced,
			 const struct member *member)
{
	rank->process = traced_at(traced, member->id);
	if (member->fact.rank >= 0 && member->fact.rank != rank->rank)
		return;
	rank->exit_signal = member->exit_signal;
	rank->outlived_ns = member->outlived_ns;
}

void sweep_finish(struct sweep *sweep, struct exhibits *exhibits)
{
	struct map by_pid = { 0 };

	sweep->traced = &exhibits->traced;
	order_ranks(sweep);
	find_members(sweep, exhibits, &by_pid);
	for (size_t i = 0; i < sweep->ranks.len; i++) {
		struct sweep_rank *rank = &sweep->ranks.data[i];
		const uint64_t *at = map_find(&by_pid, map_text(rank->host), rank->pid);

		rank->process = -1;
		if (at) {
			take_process(rank, &exhibits->traced, &exhibits->members.data[*at - 1]);
			*map_insert(&sweep->by_member, *at - 1, 0, NULL) = 1 + i;
		}
		rank->gone = gone(sweep, rank);
		count_stopped(sweep, rank);
	}
	map_release(&by_pid);
}
