// SPDX-License-Identifier: BSD-3-Clause
/* Whether the evidence is complete: COV. */
#include <string.h>

#include "judge/rules.h"

/* The reasons of a list of totals, the largest first, as one sentence. */
static const char *reasons_text(struct judge *judge, const struct fact_reason *reasons)
{
	const char *text = NULL;

	for (int i = 0; i < FACT_MAX_REASONS; i++) {
		if (!reasons[i].reason || !reasons[i].count)
			continue;
		text = text ? say(judge, "%s, %s %lu", text, reasons[i].reason,
				  (unsigned long)reasons[i].count)
			    : say(judge, "%s %lu", reasons[i].reason,
				  (unsigned long)reasons[i].count);
	}
	return text;
}

static uint64_t sum(const struct fact_reason *reasons)
{
	uint64_t all = 0;

	for (int i = 0; i < FACT_MAX_REASONS; i++)
		all += reasons[i].reason ? reasons[i].count : 0;
	return all;
}

void rule_loss(const struct trial *trial)
{
	const struct fact_totals *totals = &trial->exhibits->totals;
	uint64_t lost = sum(totals->dropped);
	bool fails = lost || totals->damaged_bytes;
	struct finding *finding;

	trial->judge->incomplete = fails || trial->judge->captures_broken;
	if (!fails && trial->judge->captures_broken) {
		found_nothing(trial, VERDICT_UNKNOWN,
			      "a capture is cut short, or could not be read");
		return;
	}
	finding = found(trial, fails ? VERDICT_FAIL : VERDICT_PASS, ALL_CAPTURES);
	finding->count = fails ? lost : totals->stored;
	finding->expected = "0 records lost";
	if (!fails)
		return;
	finding->seen =
		lost ? say(trial->judge, "lost: %s", reasons_text(trial->judge, totals->dropped))
		     : say(trial->judge, "%lu bytes of captures are damaged",
			   (unsigned long)totals->damaged_bytes);
}

static struct node *known_node(const struct exhibits *exhibits, const struct cell *cell)
{
	return exhibits_node(exhibits, cell->process < 0 ? cell->peer : cell->process);
}

void mark_in_part(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;
	struct tallies tallies = { 0 };

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];

		tally_add(tally_node(trial, &tallies, known_node(exhibits, cell)), cell,
			  !cell_placed(cell));
	}
	for (size_t i = 0; i < tallies.list.len; i++) {
		const struct tally *tally = &tallies.list.data[i];
		struct node *node = tally->worst ? known_node(exhibits, tally->worst) : NULL;

		if (!node || tally_share(tally) <= trial->setting->number[0])
			continue;
		node->in_part = true;
		node->one_ended = tally->bytes;
		node->moved = tally->all_bytes;
	}
	tallies_release(&tallies);
}

/* A node whose peers are in no capture: its own is not to blame, but proves little. */
static void other_ends(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;

	for (size_t i = 0; i < exhibits->nodes.len; i++) {
		const struct node *node = &exhibits->nodes.data[i];

		if (node->in_part)
			found_why(trial, VERDICT_UNKNOWN, node->name,
				  say(trial->judge,
				      "%lu B of %lu go to or come from processes in no capture",
				      (unsigned long)node->one_ended, (unsigned long)node->moved));
	}
}

/* What is under way at either end of a capture has one end only: that is no fault of the job. */
static void unmatched(const struct trial *trial)
{
	const struct fact_totals *totals = &trial->exhibits->totals;
	uint64_t all = totals->sends + totals->receives;
	uint64_t open = sum(totals->unmatched_sends) + sum(totals->unmatched_receives);
	bool many = open > trial->setting->number[0] * all;
	struct finding *finding = found(trial, many ? VERDICT_UNKNOWN : VERDICT_PASS, ALL_CAPTURES);

	finding->count = open;
	finding->expected = "a receive for every send";
	if (many)
		finding->why = say(trial->judge, "%lu of %lu ends of messages have no other end",
				   (unsigned long)open, (unsigned long)all);
}

void rule_both_ends(const struct trial *trial)
{
	const struct fact_totals *totals = &trial->exhibits->totals;

	if (totals->sends + totals->receives)
		unmatched(trial);
	else
		found_nothing(trial, VERDICT_SKIP, "no message was sent");
	other_ends(trial);
	judge_open(trial);
}

static bool unknown_cell(const struct cell *cell)
{
	return !cell->transport || !cell->device || !cell->src_mem || !cell->dst_mem;
}

void rule_attribution(const struct trial *trial)
{
	const struct exhibits *exhibits = trial->exhibits;
	size_t before = trial->judge->findings.len;
	struct tallies tallies = { 0 };

	for (size_t i = 0; i < exhibits->cells.len; i++) {
		const struct cell *cell = &exhibits->cells.data[i];
		if (cell_placed(cell))
			tally_add(tally_node(trial, &tallies, known_node(exhibits, cell)), cell,
				  unknown_cell(cell));
	}
	tallies_judge(trial, &tallies, trial->setting->number[0],
		      "transport, device and memory known", "no data was moved");
	for (; before < trial->judge->findings.len; before++) {
		struct finding *finding = &trial->judge->findings.data[before];

		if (finding->verdict == VERDICT_FAIL && finding->share > trial->setting->number[1])
			finding->severity = SEVERITY_CRITICAL;
	}
}
