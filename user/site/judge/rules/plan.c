// SPDX-License-Identifier: BSD-3-Clause
/*
 * COV-03: what was planned is in the ledgers, once, and in the captures, with its bytes. A node
 * that is not there, a rank that stopped, and one that was not traced are told apart; who had to
 * wait for another one is not to blame.
 */
#include <stdlib.h>

#include "site/judge/rules/plan.h"

static int gravity(enum verdict verdict)
{
	return verdict == VERDICT_FAIL ? 2 : verdict == VERDICT_UNKNOWN;
}

void plan_note(struct look *look, int node, enum verdict verdict, const char *text)
{
	struct note *note = node >= 0 ? &look->notes[node] : NULL;

	if (!note)
		return;
	if (verdict == note->verdict)
		note->more++;
	if (gravity(verdict) <= gravity(note->verdict))
		return;
	note->verdict = verdict;
	note->text = text;
	note->more = 0;
}

bool plan_lacks(const struct look *look, int node)
{
	return node >= 0 &&
	       losses_has(&look->trial->judge->losses, look->sweep->plan->nodes.data[node].name);
}

/* In one of the jobs that it has a part in. */
static void find_ranks(struct look *look, int node, uint32_t job)
{
	const struct plan *plan = look->sweep->plan;
	int present = 0;

	for (int local = 0; local < plan->ranks; local++)
		present += sweep_rank_at(look->sweep, job, node, local) != NULL;
	if (!present && plan->parts.len)
		plan_note(look, node, VERDICT_UNKNOWN,
			  say(look->trial->judge,
			      "no report of part %u: no ledger of this node is there", job));
	else if (!present)
		plan_note(look, node, VERDICT_UNKNOWN,
			  "no report: no ledger of this node is there");
	else if (present < plan->ranks)
		plan_note(look, node, plan_lacks(look, node) ? VERDICT_UNKNOWN : VERDICT_FAIL,
			  say(look->trial->judge, "%d of %d ranks were started, or left a ledger",
			      present, plan->ranks));
}

static void find_present(struct look *look)
{
	const struct plan *plan = look->sweep->plan;

	for (size_t i = 0; i < plan->nodes.len; i++)
		for (size_t wave = 0; wave < (plan->parts.len ? PLAN_WAVES : 1); wave++)
			find_ranks(look, i, plan_part_in(plan, wave, i));
}

static void conclude(const struct look *look)
{
	const struct plan *plan = look->sweep->plan;
	struct judge *judge = look->trial->judge;

	for (size_t i = 0; i < plan->nodes.len; i++) {
		const struct note *said = &look->notes[i];
		struct finding *finding =
			found(look->trial, said->verdict, plan->nodes.data[i].name);
		const char *text = said->text;

		finding->expected = "all that was planned, once";
		finding->count = said->messages;
		finding->bytes = said->bytes;
		if (said->more)
			text = say(judge, "%s; and %lu more", text, (unsigned long)said->more);
		if (said->verdict == VERDICT_FAIL)
			finding->seen = text;
		else if (said->verdict == VERDICT_UNKNOWN)
			finding->why = text;
	}
}

void rule_planned(const struct trial *trial)
{
	struct look look = { .trial = trial, .sweep = &trial->judge->sweep };

	if (!look.sweep->ranks.len) {
		planned_without_ledgers(trial);
		return;
	}
	look.notes = calloc(look.sweep->plan->nodes.len, sizeof(*look.notes));
	plan_look_for_stopped(&look);
	find_present(&look);
	plan_look_at_ledgers(&look);
	plan_look_at_captures(&look);
	plan_look_at_gpus(&look);
	conclude(&look);
	map_release(&look.sent);
	map_release(&look.met);
	map_release(&look.calls);
	free(look.notes);
}
