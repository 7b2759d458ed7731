// SPDX-License-Identifier: BSD-3-Clause
/*
 * COV-03: who did not come to its end, and why. A rank that hangs or has died is to blame; those
 * that wait for it are not.
 */
#include "site/judge/rules/plan.h"

#define NAMED 3 /* ranks, in a text */
#define MORE_TIME "more time by --limit, less to send by --max-size or --ranks"

static bool stopped(const struct sweep_rank *rank, uint32_t job)
{
	return rank->job == job && !rank->ended;
}

/*
 * Others had the time to write down where they waited, these had not; or they crashed. NULL: there
 * is none.
 */
static const char *hung(struct look *look, uint32_t job)
{
	struct judge *judge = look->trial->judge;
	const struct sweep_rank *first = NULL;
	const char *text = NULL;
	int count = 0;

	for (size_t i = 0; i < look->sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &look->sweep->ranks.data[i];

		if (!stopped(rank, job) || sweep_fate(look->sweep, rank) != FATE_HANGS)
			continue;
		plan_note(look, rank->node, VERDICT_FAIL,
			  say(judge, "rank %d of %s %s, in round %u of stage %s", rank->rank,
			      rank->node_name, rank->gone, rank->round,
			      plan_stage_names[rank->stage]));
		if (count++ < NAMED)
			text = text ? say(judge, "%s, rank %d of %s", text, rank->rank,
					  rank->node_name)
				    : say(judge, "rank %d of %s", rank->rank, rank->node_name);
		first = first ? first : rank;
	}
	if (!first)
		return NULL;
	if (count > NAMED)
		text = say(judge, "%s and %d more", text, count - NAMED);
	if (count > 1)
		return say(judge, "%s %s", text,
			   sweep_died(first) ? "have died of a signal" : "hang or have died");
	return say(judge, "%s %s, in round %u of stage %s", text, first->gone, first->round,
		   plan_stage_names[first->stage]);
}

/* All of them ran: whether a message gets stuck or is only slow, operations tell (COV-04). */
static const char *too_slow(const struct look *look, uint32_t job)
{
	for (size_t i = 0; i < look->sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &look->sweep->ranks.data[i];

		if (stopped(rank, job) && sweep_fate(look->sweep, rank) == FATE_STUCK)
			return say(
				look->trial->judge,
				"no end of %s within a round's time, which may only be slow: " MORE_TIME,
				rank->waits);
	}
	return NULL;
}

static const char *who_ended(const struct look *look, uint32_t job)
{
	for (size_t i = 0; i < look->sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &look->sweep->ranks.data[i];

		if (stopped(rank, job) && rank->stuck == STUCK_TOO_LONG)
			return "a round took longer than it may: " MORE_TIME;
		if (stopped(rank, job) && rank->stuck == STUCK_LIMIT)
			return "the sweep stopped the job at its time limit: " MORE_TIME;
		if (stopped(rank, job) && rank->stuck == STUCK_INTERRUPTED)
			return "the sweep was interrupted, and stopped the job";
	}
	if (look->sweep->jobs.data[job].stopped)
		return "all of its ranks were stopped, and then ended";
	return "the job was ended, it is not known why";
}

static void find_stopped(struct look *look, uint32_t job)
{
	const char *why = hung(look, job);

	why = why ? why : too_slow(look, job);
	why = why ? why : who_ended(look, job);
	for (size_t i = 0; i < look->sweep->ranks.len; i++) {
		const struct sweep_rank *rank = &look->sweep->ranks.data[i];

		if (stopped(rank, job))
			plan_note(look, rank->node, VERDICT_UNKNOWN,
				  say(look->trial->judge, "rank %d did not come to its end: %s",
				      rank->rank, why));
	}
}

void plan_look_for_stopped(struct look *look)
{
	for (uint32_t job = 0; job <= plan_parts(look->sweep->plan); job++)
		find_stopped(look, job);
}
