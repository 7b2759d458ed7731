// SPDX-License-Identifier: BSD-3-Clause
/* COV-01, COV-05: records that were lost, and transfers without an operation. */
#include "site/judge/exhibits/totals.h"
#include "site/judge/rules/tally.h"

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

/* Of captures that do not tell their node. */
static void loss_of_all(const struct trial *trial, uint64_t lost, uint64_t damaged)
{
	const struct fact_totals *totals = &trial->exhibits->totals;
	bool fails = lost || damaged;
	struct finding *finding;

	if (!fails && trial->judge->captures_broken) {
		found_nothing(trial, VERDICT_UNKNOWN,
			      "a capture is cut short, could not be read, or has windows of time "
			      "alone and names no host");
		return;
	}
	finding = found(trial, fails ? VERDICT_FAIL : VERDICT_PASS, subject_captures());
	finding->count = fails ? lost : totals->stored;
	finding->expected = "0 records lost";
	if (!fails)
		return;
	finding->seen =
		lost ? say(trial->judge, "lost: %s", reasons_text(trial->judge, totals->dropped))
		     : say(trial->judge, "%lu bytes of captures are damaged",
			   (unsigned long)damaged);
}

static const char *files_text(struct judge *judge, const struct node_loss *loss)
{
	const char *text = say(judge, "%lu of its files are cut short, damaged or cannot be read",
			       (unsigned long)loss->of[LOSS_FILES]);

	return loss->of[LOSS_MISSING] ? say(judge, "%s: %lu records are not there", text,
					    (unsigned long)loss->of[LOSS_MISSING])
				      : text;
}

static void add_why(const struct trial *trial, struct finding *finding, const char *text)
{
	finding->why = finding->why ? say(trial->judge, "%s; %s", finding->why, text) : text;
}

/*
 * Records that found no room are a fault of the tracing. Records that a file lacks, or that were
 * left out on purpose, are unknown.
 */
static void loss_of_node(const struct trial *trial, const struct node_loss *loss)
{
	bool fails = loss->of[LOSS_RECORDS] || (loss->of[LOSS_MISSING] && !loss->of[LOSS_FILES]);
	struct finding *finding =
		found(trial, fails ? VERDICT_FAIL : VERDICT_UNKNOWN, subject_node(loss->node));

	finding->count = loss->of[LOSS_RECORDS] + loss->of[LOSS_MISSING];
	finding->expected = "0 records lost";
	if (fails) {
		finding->seen = say(trial->judge, "lost: ring full %lu, not in the file %lu",
				    (unsigned long)loss->of[LOSS_RECORDS],
				    (unsigned long)loss->of[LOSS_MISSING]);
		return;
	}
	if (loss->of[LOSS_FILES])
		add_why(trial, finding, files_text(trial->judge, loss));
	if (loss->of[LOSS_HITS])
		add_why(trial, finding,
			say(trial->judge, "%lu hits of probes found no memory to be recorded with",
			    (unsigned long)loss->of[LOSS_HITS]));
	if (loss->of[LOSS_THINNED])
		add_why(trial, finding,
			say(trial->judge,
			    "%lu records were left out on purpose, and are in sums alone",
			    (unsigned long)loss->of[LOSS_THINNED]));
	if (loss->of[LOSS_SPANS] && !loss->of[LOSS_NARROW])
		add_why(trial, finding,
			say(trial->judge,
			    "recorded in windows of time alone, for which rules hold: %lu with all "
			    "layers, %lu with fewer",
			    (unsigned long)loss->of[LOSS_SPANS],
			    (unsigned long)loss->of[LOSS_WINDOWS]));
	else if (loss->of[LOSS_WINDOWS])
		add_why(trial, finding,
			loss->of[LOSS_SPANS]
				? "the budget of one of its captures allowed fewer layers alone"
				: "its budget allowed fewer layers alone");
}

static uint64_t less(uint64_t all, uint64_t some)
{
	return all > some ? all - some : 0;
}

/* Records, and bytes of files, that are not of nodes that are known. */
static uint64_t lost_of_all(const struct judge *judge)
{
	return less(reasons_sum(judge->exhibits.totals.dropped),
		    losses_sum(&judge->losses, LOSS_RECORDS) +
			    losses_sum(&judge->losses, LOSS_MISSING) +
			    losses_sum(&judge->losses, LOSS_THINNED));
}

static uint64_t damaged_of_all(const struct judge *judge)
{
	return less(judge->exhibits.totals.damaged_bytes, losses_sum(&judge->losses, LOSS_BYTES));
}

void mark_incomplete(struct judge *judge)
{
	judge->incomplete = lost_of_all(judge) || damaged_of_all(judge) || judge->captures_broken;
}

void rule_loss(const struct trial *trial)
{
	const struct losses *losses = &trial->judge->losses;

	if (trial->judge->incomplete || !losses->list.len)
		loss_of_all(trial, lost_of_all(trial->judge), damaged_of_all(trial->judge));
	for (size_t i = 0; i < losses->list.len; i++)
		loss_of_node(trial, &losses->list.data[i]);
}

static struct answer ask_known(const struct trial *trial, const struct cell *cell)
{
	(void)trial;
	return (struct answer){
		cell_placed(cell) ? FITS : FITS_NOT,
		!cell->transport || !cell->device || !cell->src_mem || !cell->dst_mem,
	};
}

void rule_attribution(const struct trial *trial)
{
	struct tallies tallies = { 0 };

	tallies_ask(trial, &tallies, ask_known, tally_known);
	tallies_judge(trial, &tallies, trial->settings->cov_05.share,
		      "transport, device and memory known");
	for (size_t i = trial->from; i < trial->judge->findings.len; i++) {
		struct finding *finding = &trial->judge->findings.data[i];

		/* folded records do not have the kind of memory */
		if (finding->verdict == VERDICT_FAIL &&
		    losses_has(&trial->judge->losses, finding->subject.node)) {
			finding->verdict = VERDICT_UNKNOWN;
			finding->why = "some of its records are in sums alone (COV-01)";
		}
		if (finding->verdict == VERDICT_FAIL &&
		    finding->share > trial->settings->cov_05.critical)
			finding->severity = SEVERITY_CRITICAL;
	}
}
