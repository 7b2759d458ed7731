// SPDX-License-Identifier: BSD-3-Clause
#include "observe/capture/governor.h"

#include <math.h>

#include "base/level.h"
#include "base/vec.h"

#define MS 1000000ull /* ns */
#define S (1000 * MS)

#define GIVE_BACK 0.75 /* of the budget: a group returns if the cost stays below */
#define IN_A_ROW 2 /* intervals over or under it */
#define ALARM 0.5 /* the job takes twice as long: one interval is enough */
#define PATIENCE 1.5 /* times the budget */
#define HALF_LIFE (60.0 * S) /* of the assumed cost of a removed group */
#define TRIAL (10 * S) /* a climb that lasts that long was right */
#define PAUSE_MIN (1 * S)
#define PAUSE_MAX (64 * S)

const char *governor_step_name(enum governor_step step)
{
	return step == STEP_WINDOWS ? "windows" : level_names[step - STEP_MPI];
}

unsigned int governor_groups(enum governor_step step)
{
	static const unsigned int groups[] = { 0xf, 0x9, 0xb, 0xf };

	return groups[step];
}

void governor_init(struct governor *governor, double budget)
{
	*governor = (struct governor){ .budget = budget, .step = STEP_UCT, .pause = PAUSE_MIN };
}

/* A rise counts at once, a fall by half. */
void governor_learn(struct governor *governor, uint64_t now, unsigned int groups,
		    const double *odds)
{
	double below = 0;

	for (int group = 0; group < UB_GROUPS; group++) {
		double *known = &governor->odds[group];

		if (!(groups & 1u << group))
			continue;
		*known = odds[group] > *known || !governor->seen[group]
				 ? odds[group]
				 : (odds[group] + *known) / 2;
		governor->below[group] = below;
		governor->seen[group] = now ? now : 1;
		below += *known;
	}
}

static double expected(const struct governor *governor, uint64_t now, int group, double below)
{
	double age = now > governor->seen[group] ? now - governor->seen[group] : 0;
	double known = governor->odds[group] * exp2(-age / HALF_LIFE);

	return governor->below[group] > 0 ? known * below / governor->below[group] : known;
}

double governor_predict(const struct governor *governor, uint64_t now, enum governor_step step)
{
	unsigned int in_place = governor_groups(governor->step), groups = governor_groups(step);
	double sum = 0, below = 0;

	for (int group = 0; group < UB_GROUPS; group++) {
		if (!(groups & 1u << group))
			continue;
		if (in_place & 1u << group)
			below += governor->odds[group];
		sum += in_place & 1u << group ? governor->odds[group]
					      : expected(governor, now, group, below);
	}
	return sum / (1 + sum);
}

/* With the MPI layer alone, a program without MPI calls shows nothing. */
static bool is_blind(const struct governor *governor, uint64_t now, enum governor_step step)
{
	return governor_predict(governor, now, step) == 0 &&
	       governor_predict(governor, now, STEP_UCT) > 0;
}

enum governor_step governor_best(const struct governor *governor, uint64_t now, double share)
{
	for (int step = STEP_UCT; step > STEP_WINDOWS; step--)
		if (governor_predict(governor, now, step) <= share)
			return is_blind(governor, now, step) ? STEP_WINDOWS : step;
	return STEP_WINDOWS;
}

static void change(struct governor *governor, enum governor_step step, const char *reason)
{
	governor->step = step;
	governor->reason = reason;
	governor->over = governor->under = 0;
}

/* Each failure to climb makes the next try wait longer. */
static void back_off(struct governor *governor, uint64_t now, bool again)
{
	governor->pause = again ? governor->pause * 2 : PAUSE_MIN;
	if (governor->pause > PAUSE_MAX)
		governor->pause = PAUSE_MAX;
	governor->not_before = now + governor->pause;
}

void governor_lower(struct governor *governor, uint64_t now)
{
	back_off(governor, now, true);
	governor->climbed = 0;
	change(governor, governor->step - 1, "not placed");
}

/* To the step that the estimate allows, at least one down. */
static bool go_down(struct governor *governor, uint64_t now, const char *reason)
{
	enum governor_step best = governor_best(governor, now, governor->budget);
	bool too_early = governor->climbed && now - governor->climbed < TRIAL;

	if (best >= governor->step)
		best = governor->step - 1;
	if (is_blind(governor, now, best))
		best = STEP_WINDOWS;
	back_off(governor, now, too_early);
	governor->climbed = 0;
	change(governor, best, reason);
	return true;
}

static bool go_up(struct governor *governor, uint64_t now)
{
	enum governor_step best = governor_best(governor, now, governor->budget * GIVE_BACK);

	if (now < governor->not_before || best <= governor->step) {
		governor->under = 0;
		return false;
	}
	if (++governor->under < IN_A_ROW)
		return false;
	governor->climbed = now;
	change(governor, best, "under budget");
	return true;
}

static bool force(struct governor *governor)
{
	static const enum governor_step turns[] = { STEP_UCT,     STEP_UCP, STEP_MPI,
						    STEP_WINDOWS, STEP_MPI, STEP_UCP };

	governor->turn = (governor->turn + 1) % ARRAY_SIZE(turns);
	change(governor, turns[governor->turn], "forced");
	return true;
}

double governor_patience(const struct governor *governor)
{
	return governor->budget * PATIENCE < ALARM ? governor->budget * PATIENCE : ALARM;
}

bool governor_decide(struct governor *governor, const struct governor_interval *interval)
{
	uint64_t now = interval->now;

	governor_learn(governor, now, governor_groups(governor->step), interval->odds);
	if (governor->forced)
		return force(governor);
	if (governor->step == STEP_WINDOWS)
		return go_up(governor, now);
	if (interval->lost)
		return go_down(governor, now, "records lost");
	if (interval->share <= governor->budget) {
		governor->over = 0;
		return go_up(governor, now);
	}
	governor->under = 0;
	if (interval->may_gain && interval->share <= governor_patience(governor))
		return false;
	if (++governor->over < IN_A_ROW && interval->share < ALARM)
		return false;
	return go_down(governor, now, "over budget");
}

#define LENGTH_MIN (5 * MS)
#define LENGTH_MAX (300 * MS) /* a loop of 1 s that it stops takes less than 2 s */

struct governor_windows governor_windows(const struct governor *governor, double fixed)
{
	static const uint64_t periods[] = { 1 * S, 10 * S, 60 * S };
	struct governor_windows windows = { LENGTH_MIN, periods[2] };
	double odds = 0, length = 0;

	for (int group = 0; group < UB_GROUPS; group++)
		odds += governor->odds[group];
	for (int i = 0; i < 3 && length < 2 * LENGTH_MIN; i++) {
		windows.period = periods[i];
		length = governor->budget * windows.period - fixed;
		length = odds > 0 ? length * (1 + odds) / odds : LENGTH_MAX;
	}
	if (length > LENGTH_MAX)
		length = LENGTH_MAX;
	if (length > LENGTH_MIN)
		windows.length = (uint64_t)length;
	return windows;
}
