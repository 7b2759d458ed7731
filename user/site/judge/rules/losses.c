// SPDX-License-Identifier: BSD-3-Clause
/* COV-01, COV-05: records that were lost, and transfers without an operation. */
#include <string.h>

#include "site/judge/aggregates/totals.h"
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

static uint64_t less(uint64_t all, uint64_t some)
{
	return all > some ? all - some : 0;
}

/* ---- files by name ---- */

#define MOST_NAMED 3 /* files with the same defect */

static bool of_node(const struct lacking_file *file, const char *node)
{
	return node ? file->node && !strcmp(file->node, node) : !file->node;
}

/* Whether no file of the node before this one has its defect. */
static bool is_first(const struct judge *judge, const char *node, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (of_node(&judge->files.data[i], node) &&
		    !strcmp(judge->files.data[i].why, judge->files.data[at].why))
			return false;
	return true;
}

/* "a.ucxb, b.ucxb and 2 more: the end of the capture was cut off"; adds their number to *named. */
static const char *same_defect(struct judge *judge, const char *node, const char *why,
			       uint64_t *named)
{
	const char *text = NULL;
	size_t count = 0;

	for (size_t i = 0; i < judge->files.len; i++) {
		const struct lacking_file *file = &judge->files.data[i];

		if (!of_node(file, node) || strcmp(file->why, why))
			continue;
		if (++count <= MOST_NAMED)
			text = text ? say(judge, "%s, %s", text, file->file) : file->file;
	}
	*named += count;
	return count > MOST_NAMED ? say(judge, "%s and %zu more: %s", text, count - MOST_NAMED, why)
				  : say(judge, "%s: %s", text, why);
}

/* All files of a node (NULL: of unknown nodes), by their defects; NULL: no file is named. */
static const char *files_named(struct judge *judge, const char *node, uint64_t *named)
{
	const char *text = NULL;

	*named = 0;
	for (size_t i = 0; i < judge->files.len; i++) {
		const struct lacking_file *file = &judge->files.data[i];
		const char *part;

		if (!of_node(file, node) || !is_first(judge, node, i))
			continue;
		part = same_defect(judge, node, file->why, named);
		text = text ? say(judge, "%s; %s", text, part) : part;
	}
	return text;
}

/* ---- */

/* Reports losses in captures that do not name their node. */
static void loss_of_all(const struct rule_ctx *ctx, uint64_t lost, uint64_t damaged)
{
	const struct fact_totals *totals = &ctx->aggregates->totals;
	bool fails = lost || damaged;
	struct finding *finding;
	const char *names;
	uint64_t named;

	if (!fails && ctx->judge->captures_broken) {
		names = files_named(ctx->judge, NULL, &named);
		found_nothing(ctx, VERDICT_UNKNOWN,
			      names ? names
				    : "a capture of an unknown node is cut short, could not be "
				      "read, or was recorded only in windows of time");
		return;
	}
	finding = found(ctx, fails ? VERDICT_FAIL : VERDICT_PASS, subject_captures());
	finding->count = fails ? lost : totals->stored;
	finding->expected = "0 records lost";
	if (!fails)
		return;
	finding->seen =
		lost ? say(ctx->judge, "lost: %s", reasons_text(ctx->judge, totals->dropped))
		     : say(ctx->judge, "%lu bytes of captures are damaged", (unsigned long)damaged);
}

static const char *files_text(struct judge *judge, const struct node_loss *loss)
{
	uint64_t named;
	const char *text = files_named(judge, loss->node, &named);
	uint64_t others = less(loss->counts[LOSS_FILES], named);

	if (others)
		text = say(judge, "%s%s%lu %s files are cut short, damaged or cannot be read",
			   text ? text : "", text ? "; " : "", (unsigned long)others,
			   text ? "other" : "of its");
	return loss->counts[LOSS_MISSING] ? say(judge, "%s: %lu records are missing", text,
						(unsigned long)loss->counts[LOSS_MISSING])
					  : text;
}

static void add_why(const struct rule_ctx *ctx, struct finding *finding, const char *text)
{
	finding->why = finding->why ? say(ctx->judge, "%s; %s", finding->why, text) : text;
}

/*
 * Records that found no room are a fault of the tracing. Records that a file lacks, or that were
 * left out on purpose, are unknown.
 */
static void loss_of_node(const struct rule_ctx *ctx, const struct node_loss *loss)
{
	bool fails = loss->counts[LOSS_RECORDS] ||
		     (loss->counts[LOSS_MISSING] && !loss->counts[LOSS_FILES]);
	struct finding *finding =
		found(ctx, fails ? VERDICT_FAIL : VERDICT_UNKNOWN, subject_node(loss->node));

	finding->count = loss->counts[LOSS_RECORDS] + loss->counts[LOSS_MISSING];
	finding->expected = "0 records lost";
	if (fails) {
		finding->seen = say(ctx->judge, "lost: ring full %lu, not in the file %lu",
				    (unsigned long)loss->counts[LOSS_RECORDS],
				    (unsigned long)loss->counts[LOSS_MISSING]);
		return;
	}
	if (loss->counts[LOSS_FILES])
		add_why(ctx, finding, files_text(ctx->judge, loss));
	if (loss->counts[LOSS_HITS])
		add_why(ctx, finding,
			say(ctx->judge, "%lu probe hits could not be recorded for lack of memory",
			    (unsigned long)loss->counts[LOSS_HITS]));
	if (loss->counts[LOSS_THINNED])
		add_why(ctx, finding,
			say(ctx->judge, "%lu records were left out on purpose and are only in sums",
			    (unsigned long)loss->counts[LOSS_THINNED]));
	if (loss->counts[LOSS_SPANS] && !loss->counts[LOSS_NARROW])
		add_why(ctx, finding,
			say(ctx->judge,
			    "recorded only in windows of time, for which rules hold: %lu with all "
			    "layers, %lu with fewer",
			    (unsigned long)loss->counts[LOSS_SPANS],
			    (unsigned long)loss->counts[LOSS_WINDOWS]));
	else if (loss->counts[LOSS_WINDOWS])
		add_why(ctx, finding,
			loss->counts[LOSS_SPANS]
				? "the budget of one of its captures allowed only some layers"
				: "its budget allowed only some layers");
}

/* A node's losses do not count them. */
static uint64_t notices(const struct fact_reason *dropped)
{
	for (int i = 0; i < FACT_MAX_REASONS; i++)
		if (dropped[i].reason && !strcmp(dropped[i].reason, FACT_LOSS_NOTICES))
			return dropped[i].count;
	return 0;
}

/* Records, and bytes of files, that are not of nodes that are known. */
static uint64_t lost_of_all(const struct judge *judge)
{
	const struct fact_reason *dropped = judge->aggregates.totals.dropped;

	return less(reasons_sum(dropped), notices(dropped) +
						  losses_sum(&judge->losses, LOSS_RECORDS) +
						  losses_sum(&judge->losses, LOSS_MISSING) +
						  losses_sum(&judge->losses, LOSS_THINNED));
}

static uint64_t damaged_of_all(const struct judge *judge)
{
	return less(judge->aggregates.totals.damaged_bytes, losses_sum(&judge->losses, LOSS_BYTES));
}

void mark_incomplete(struct judge *judge)
{
	judge->incomplete = lost_of_all(judge) || damaged_of_all(judge) || judge->captures_broken;
}

void rule_loss(const struct rule_ctx *ctx)
{
	const struct losses *losses = &ctx->judge->losses;

	if (ctx->judge->incomplete || !losses->list.len)
		loss_of_all(ctx, lost_of_all(ctx->judge), damaged_of_all(ctx->judge));
	for (size_t i = 0; i < losses->list.len; i++)
		loss_of_node(ctx, &losses->list.data[i]);
}

static struct cell_answer ask_known(const struct rule_ctx *ctx, const struct traffic_cell *cell)
{
	(void)ctx;
	return (struct cell_answer){
		cell_placed(cell) ? FITS : FITS_NOT,
		!cell->transport || !cell->device || !cell->src_mem || !cell->dst_mem,
	};
}

void rule_attribution(const struct rule_ctx *ctx)
{
	cells_judge(ctx, &(struct cell_rule){
				 .measure = ask_known,
				 .group = tally_known,
				 .allowed = ctx->settings->cov_05.share,
				 .expected = "transport, device and memory known",
			 });
	for (size_t i = ctx->from; i < ctx->judge->findings.len; i++) {
		struct finding *finding = &ctx->judge->findings.data[i];

		/* folded records do not have the kind of memory */
		if (finding->verdict == VERDICT_FAIL &&
		    losses_has(&ctx->judge->losses, finding->subject.node)) {
			finding->verdict = VERDICT_UNKNOWN;
			finding->why = "some of its records are only in sums (COV-01)";
		}
		if (finding->verdict == VERDICT_FAIL &&
		    finding->share > ctx->settings->cov_05.critical)
			finding->severity = SEVERITY_CRITICAL;
	}
}
