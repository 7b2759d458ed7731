/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides from measured costs what a budget allows to record. Pure: uses neither clock nor kernel.
 *
 * A cost is given as odds: a thread's time in probes over the rest of its time. Unlike the share of
 * all time, the odds of a group do not depend on the other groups: a loop of 1 us with 3 us for one
 * group and 1 us for another has odds of 3 and 1, and shares of 0.75, 0.5 or 0.8.
 */
#ifndef UCXBPF_CAPTURE_GOVERNOR_H
#define UCXBPF_CAPTURE_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

#include "ucxbpf.h"

/* Cheapest first; each but the first has one group of probes more than the one before. */
enum governor_step {
	STEP_WINDOWS, /* all groups, for moments */
	STEP_MPI,
	STEP_UCP,
	STEP_UCT,
	STEPS
};

/* "windows", "mpi", "ucp", "uct" */
const char *governor_step_name(enum governor_step step);

/* The groups in place on that step (of windows: while one is open), one bit each. */
unsigned int governor_groups(enum governor_step step);

/* Costs over an interval in which the groups of one step were in place. */
struct governor_interval {
	uint64_t now; /* ns, its end */
	double share; /* highest share of its time that a thread paid; 0 to 1 */
	double odds[UB_GROUPS]; /* the most that a thread paid for each group */
	bool lost; /* some records found no room */
	bool may_gain; /* probes may be removed soon whose events can be derived */
};

struct governor {
	double budget; /* a share, above 0 and below 1 */
	enum governor_step step;
	bool forced; /* for tests: another step after each interval */
	const char *reason; /* of the last decision; static */
	double odds[UB_GROUPS]; /* as last seen */
	double below[UB_GROUPS]; /* the sum of those of lower groups then */
	uint64_t seen[UB_GROUPS]; /* ns: when; 0: never */
	unsigned int over, under, turn; /* intervals in a row; of forced */
	uint64_t climbed, not_before, pause; /* ns: when; no climb before; after a failed one */
};

void governor_init(struct governor *governor, double budget);

/* Stores the measured costs of groups (one bit each). */
void governor_learn(struct governor *governor, uint64_t now, unsigned int groups,
		    const double *odds);

/*
 * The share that a thread would pay on a step above STEP_WINDOWS, as far as is known. A removed
 * group is assumed to cost as much as when last measured, in proportion to the groups below it that
 * are in place. The assumption decays, so that the group is tried again.
 */
double governor_predict(const struct governor *governor, uint64_t now, enum governor_step step);

/* The best step that costs no more than a share, by governor_predict(). */
enum governor_step governor_best(const struct governor *governor, uint64_t now, double share);

/* The groups of the step cannot be placed: goes one step lower, and does not climb for a while. */
void governor_lower(struct governor *governor, uint64_t now);

/*
 * The most that a thread may pay while probes may soon be removed without losing detail
 * (interval.may_gain): these are up to a third of the cost.
 */
double governor_patience(const struct governor *governor);

/*
 * Stores costs and decides; returns whether the step has changed. On STEP_WINDOWS: once per window.
 */
bool governor_decide(struct governor *governor, const struct governor_interval *interval);

/* How long a window may be, and how often; ns. */
struct governor_windows {
	uint64_t length, period;
};

/* fixed: ns that a window costs a thread whatever its length, as probes are placed and removed. */
struct governor_windows governor_windows(const struct governor *governor, double fixed);

#endif
