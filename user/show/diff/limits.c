// SPDX-License-Identifier: BSD-3-Clause
/* Captures that lack something, and the parts of a comparison that are left out for it. */
#include <stdio.h>

#include "show/diff/internal.h"

/* The least of its captures; old ones do not tell theirs, and have all layers. */
static enum level level_of(const struct fact_self *self)
{
	for (int level = 0; level < LEVELS; level++)
		if (self->levels[level])
			return (enum level)level;
	return LEVEL_UCT;
}

static bool lacks_detail(const struct fact_totals *totals)
{
	return totals->calls.recorded < totals->calls.of || totals->ops.recorded < totals->ops.of ||
	       totals->transfers.recorded < totals->transfers.of || totals->thinned;
}

void diff_run_limits(struct diff *diff, const struct fact_totals *totals)
{
	struct diff_run *run = diff_now(diff);

	for (int i = 0; i < totals->derived_count; i++)
		if (totals->derived[i].calls)
			strings_keep(&diff->limits.derived, totals->derived[i].function);
	diff->limits.unproven = diff->limits.unproven || totals->short_sends.unproven;
	run->level = level_of(&totals->self);
	run->level_varies = run->level < LEVEL_UCT &&
			    fact_recorded(&totals->self, run->level + 1) == RECORDED_PARTLY;
	run->counted = totals->counted;
	run->lossy = totals->lost;
	run->thinned = !run->lossy && lacks_detail(totals);
	run->damaged = totals->partial || totals->unsummed || totals->damaged_bytes;
	run->late_mpi = totals->late_mpi;
}

static const char *const side_names[DIFF_SIDES] = { "before", "after" };

static bool is_counted(const struct diff_run *run)
{
	return run->counted;
}

static bool is_thinned(const struct diff_run *run)
{
	return run->thinned;
}

static bool is_lossy(const struct diff_run *run)
{
	return run->lossy;
}

static bool is_damaged(const struct diff_run *run)
{
	return run->damaged;
}

static bool is_killed(const struct diff_run *run)
{
	return run->killed;
}

static bool has_windows(const struct diff_run *run)
{
	return run->windows;
}

static bool is_attached(const struct diff_run *run)
{
	return run->attached;
}

static bool is_late(const struct diff_run *run)
{
	return run->late_mpi;
}

static bool lacks_callers(const struct diff_run *run)
{
	return run->uncalled;
}

static bool lacks_environment(const struct diff_run *run)
{
	return !run->whole;
}

/* What is not compared if some run is so; bit set of enum. */
enum {
	OF_COUNTS = 1,
	OF_CALLS = 2,
	OF_PROTOCOLS = 4,
	OF_WAITS = 8,
	OF_FAILED = 16,
	OF_CALLERS = 32
};

static const struct limit {
	bool (*holds)(const struct diff_run *run);
	const char *why; /* behind the side's name */
	unsigned int of;
	const char *so;
} limits[] = {
	{ is_damaged, "is damaged, cut short or lacks records", OF_COUNTS | OF_CALLS | OF_WAITS,
	  "counts, bytes and waits are not compared" },
	{ is_killed, "was ended by a signal", OF_COUNTS | OF_CALLS | OF_WAITS,
	  "counts, bytes and waits are not compared" },
	{ has_windows, "was not recorded all the time", OF_COUNTS | OF_CALLS | OF_WAITS,
	  "counts, bytes and waits are not compared" },
	{ is_attached, "was joined in mid-run", OF_COUNTS | OF_CALLS | OF_WAITS,
	  "counts, bytes and waits are not compared" },
	{ is_late, "may lack the first MPI calls", OF_CALLS, "MPI calls are not compared" },
	{ is_counted, "was made with --count", OF_PROTOCOLS | OF_CALLERS | OF_WAITS | OF_FAILED,
	  "protocols, algorithms of collectives, switch points, callers of UCP, failed operations, exact times and waits "
	  "are not compared" },
	{ is_lossy, "has lost records", OF_PROTOCOLS | OF_CALLERS | OF_WAITS | OF_FAILED,
	  "protocols, algorithms of collectives, switch points, callers of UCP, failed operations and waits are not "
	  "compared" },
	{ is_thinned, "has detail of a part only", OF_PROTOCOLS | OF_CALLERS | OF_WAITS | OF_FAILED,
	  "protocols, algorithms of collectives, switch points, callers of UCP, failed operations and waits are not "
	  "compared" },
	{ lacks_callers, "does not tell of all operations outside MPI who called UCP", OF_CALLERS,
	  "callers of UCP are not compared" },
	{ lacks_environment, "tells less than the whole environment", 0,
	  "variables that are set on one side alone are not compared" },
};

static void forbid(struct diff_limits *to, unsigned int of, const char *why)
{
	if (of & OF_COUNTS && !to->counts)
		to->counts = why;
	if (of & OF_CALLS && !to->calls)
		to->calls = why;
	if (of & OF_PROTOCOLS && !to->protocols)
		to->protocols = why;
	if (of & OF_CALLERS && !to->callers)
		to->callers = why;
	if (of & OF_WAITS && !to->waits)
		to->waits = why;
	if (of & OF_FAILED && !to->failed)
		to->failed = why;
}

/* How many runs of a side a limit holds for. */
static size_t holds_for(const struct diff *diff, const struct limit *limit, enum diff_side side)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->runs.len; i++)
		count += diff->runs.data[i].side == side && limit->holds(&diff->runs.data[i]);
	return count;
}

/* "the run before is damaged", "2 of 5 runs after: each is damaged" */
static const char *which(struct diff *diff, const struct limit *limit, enum diff_side side,
			 size_t held)
{
	const size_t runs = diff->run_count[side];

	return runs > 1 ? diff_keepf(diff, "%zu of %zu runs %s: each %s", held, runs,
				     side_names[side], limit->why)
			: diff_keepf(diff, "the run %s %s", side_names[side], limit->why);
}

static void find_limit(struct diff *diff, const struct limit *limit)
{
	const size_t before = holds_for(diff, limit, DIFF_BEFORE);
	const size_t after = holds_for(diff, limit, DIFF_AFTER);
	const char *why;

	if (!before && !after)
		return;
	if (before + after == diff->runs.len)
		why = diff_keepf(diff, "each run %s", limit->why);
	else
		why = before ? which(diff, limit, DIFF_BEFORE, before)
			     : which(diff, limit, DIFF_AFTER, after);
	if (before && after && before + after < diff->runs.len)
		why = diff_keepf(diff, "%s, and %s", why, which(diff, limit, DIFF_AFTER, after));
	vec_push(&diff->limits.notes, diff_keepf(diff, "%s: %s", why, limit->so));
	forbid(&diff->limits, limit->of, why);
	if (limit->holds == is_damaged || limit->holds == is_killed) {
		diff->limits.gaps[DIFF_BEFORE] = diff->limits.gaps[DIFF_BEFORE] || before;
		diff->limits.gaps[DIFF_AFTER] = diff->limits.gaps[DIFF_AFTER] || after;
	}
	diff->limits.incomplete =
		diff->limits.incomplete || limit->holds == is_damaged || limit->holds == is_lossy;
}

static void find_level(struct diff *diff)
{
	bool differ = false, part = false;

	diff->limits.level = LEVEL_UCT;
	for (size_t i = 0; i < diff->runs.len; i++) {
		const struct diff_run *run = &diff->runs.data[i];

		differ = differ || run->level != diff->runs.data[0].level;
		if (run->level < diff->limits.level)
			diff->limits.level = run->level;
	}
	for (size_t i = 0; i < diff->runs.len; i++)
		part = part || (diff->runs.data[i].level_varies &&
				diff->runs.data[i].level == diff->limits.level);
	if (diff->limits.level == LEVEL_UCT)
		return;
	vec_push(
		&diff->limits.notes,
		diff_keepf(
			diff, "%s runs were recorded at level %s%s: %s not compared",
			differ ? "some" : "all", level_names[diff->limits.level],
			part ? " for a part of the time (--budget none records all layers)" : "",
			diff->limits.level == LEVEL_MPI
				? "operations, callers of UCP, transfers, protocols, algorithms of "
				  "collectives, switch points and waits are"
				: "transfers, protocols, algorithms of collectives, switch "
				  "points and waits are"));
}

void diff_find_limits(struct diff *diff)
{
	find_level(diff);
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		find_limit(diff, &limits[i]);
}
