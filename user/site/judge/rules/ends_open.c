// SPDX-License-Identifier: BSD-3-Clause
/*
 * COV-04: operations that never end. A rank that waits for one that hangs is not to blame: which of
 * both it is, a sweep's ledgers tell, since a rank that runs writes down that it waits.
 */
#include "site/judge/rules/rules.h"

#define OPEN 1 /* of the rule's numbers */
#define NS 1e9

/* A job of a sweep in which ranks wait. */
struct held {
	const struct sweep_rank *culprit; /* NULL: no ledger says that any is */
	bool named; /* it has an operation of its own that is open */
	bool waited_for;
};

struct open {
	const struct trial *trial;
	const struct sweep *sweep;
	VEC(struct held) jobs;
};

static const char *or_unknown(const char *word)
{
	return word ? word : "?";
}

/* A rank whose round takes too long does nothing more for a while, before it ends. */
static bool only_slow(const struct open *open, const struct sweep_rank *rank, const struct sum *sum)
{
	return sweep_fate(open->sweep, rank) == FATE_STUCK &&
	       sum->least < (open->trial->setting->number[OPEN] + PLAN_GRACE_S) * NS;
}

/* Why it is not to blame; NULL: nothing says so. */
static const char *excuse(struct open *open, const struct sum *sum)
{
	const struct sweep_rank *rank = sweep_rank_of_member(open->sweep, sum->process);
	struct held *held = rank ? &open->jobs.data[rank->job] : NULL;
	const struct node *node = exhibits_node(open->trial->exhibits, sum->process);
	struct judge *judge = open->trial->judge;
	enum sweep_fate fate;

	/* its end may be among what was lost */
	if (judge->incomplete || (node && losses_has(&judge->losses, node->name)))
		return "it may have ended: records were lost (COV-01)";
	if (!held)
		return NULL;
	/* its turn may not have come: those that it waits for may have been at work */
	fate = sweep_fate(open->sweep, rank);
	if (fate == FATE_UNKNOWN)
		return "the job was stopped, and none of its ranks had waited for too long: it may "
		       "only be slow (COV-03)";
	if (!held->culprit)
		return NULL;
	if (only_slow(open, rank, sum))
		return "its round took longer than it may, and it stopped by itself: it may only be "
		       "slow (COV-03)";
	if (fate == FATE_TAKEN)
		return say(judge, "the job was ended: rank %d of %s %s (COV-03)",
			   held->culprit->rank, held->culprit->node_name, held->culprit->gone);
	if (fate != FATE_WAITED) {
		held->named = held->named || rank == held->culprit;
		return NULL;
	}
	if (sweep_fate(open->sweep, held->culprit) == FATE_STUCK)
		return "it ran, and waited for others, whose round took longer than it may (COV-03)";
	held->waited_for = true;
	return say(judge, "it ran, and waited: rank %d of %s does not go on (COV-03)",
		   held->culprit->rank, held->culprit->node_name);
}

static void judge_one(struct open *open, const struct sum *sum, const char *subject)
{
	const struct trial *trial = open->trial;
	const char *peer = process_text(trial, sum->peer), *why = excuse(open, sum);
	struct finding *finding = found(trial, why ? VERDICT_UNKNOWN : VERDICT_FAIL, subject);

	finding->why = why;
	finding->count = sum->count;
	finding->bytes = sum->bytes;
	finding->expected =
		say(trial->judge, "no operation open for %g s", trial->setting->number[OPEN]);
	finding->seen =
		say(trial->judge, "%s in %s%s%s: open for %.1f s, nothing else for the last %.1f s",
		    or_unknown(sum->words[0]), or_unknown(sum->words[1]),
		    peer ? ", other end " : "", peer ? peer : "", sum->most / NS, sum->least / NS);
}

/* It may have been stopped between two operations: those that wait for it are what tells. */
static void name_culprit(const struct trial *trial, const struct sweep_rank *culprit)
{
	struct finding *finding =
		found(trial, VERDICT_FAIL,
		      say(trial->judge, "%s:rank%d", culprit->node_name, culprit->rank));

	finding->expected = "it goes on, as others wait for it";
	finding->seen = sweep_silent(culprit) && !sweep_died(culprit)
				? "it did not run when its time was over: it hangs or has died"
				: say(trial->judge, "it %s", culprit->gone);
}

void judge_open(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;
	struct open open = { .trial = trial, .sweep = &trial->judge->sweep };

	for (size_t job = 0; job < open.sweep->jobs.len; job++)
		vec_push(&open.jobs, ((struct held){ .culprit = sweep_culprit(open.sweep, job) }));
	for (size_t i = 0; i < exhibits->sums.list.len; i++) {
		const struct sum *sum = &exhibits->sums.list.data[i];
		const char *subject = process_text(trial, sum->process);

		if (sum->kind == SUM_OPEN && subject &&
		    sum->least >= trial->setting->number[OPEN] * NS)
			judge_one(&open, sum, subject);
	}
	for (size_t job = 0; job < open.jobs.len; job++) {
		const struct held *held = &open.jobs.data[job];

		if (held->waited_for && !held->named &&
		    sweep_fate(open.sweep, held->culprit) == FATE_HANGS)
			name_culprit(trial, held->culprit);
	}
	vec_release(&open.jobs);
}
