// SPDX-License-Identifier: BSD-3-Clause
#include <math.h>
#include <string.h>

#include "site/judge/rules/tally.h"

static struct tally *tally_at(struct tallies *tallies, const struct node *node,
			      const struct node *other)
{
	uint64_t *at = map_insert(&tallies->index, (uintptr_t)node, (uintptr_t)other, NULL);

	if (!*at) {
		vec_push(&tallies->list, ((struct tally){ .node = node, .other = other }));
		*at = tallies->list.len;
	}
	return &tallies->list.data[*at - 1];
}

void tallies_release(struct tallies *tallies)
{
	vec_release(&tallies->list);
	map_release(&tallies->index);
}

static struct tally *tally_node(struct tallies *tallies, const struct node *node)
{
	struct tally *tally = tally_at(tallies, node, NULL);

	tally->subject = subject_node(node ? node->name : NULL);
	return tally;
}

struct tally *tally_pair(const struct rule_ctx *ctx, struct tallies *tallies,
			 const struct node *from, const struct node *to)
{
	struct tally *tally = tally_at(tallies, from, to);

	if (!tally->subject.text)
		tally->subject =
			subject_flow(ctx->judge, from ? from->name : NULL, to ? to->name : NULL);
	return tally;
}

struct tally *tally_cell(const struct rule_ctx *ctx, struct tallies *tallies,
			 const struct traffic_cell *cell)
{
	const struct node *from = aggregates_node(ctx->aggregates, cell->process);
	const struct node *to = aggregates_node(ctx->aggregates, cell->peer);

	if (cell_inter(cell))
		return tally_pair(ctx, tallies, from, to);
	return tally_node(tallies, from ? from : to);
}

struct tally *tally_known(const struct rule_ctx *ctx, struct tallies *tallies,
			  const struct traffic_cell *cell)
{
	return tally_node(tallies, cell_known_node(ctx->aggregates, cell));
}

struct tally *tally_source(const struct rule_ctx *ctx, struct tallies *tallies,
			   const struct traffic_cell *cell)
{
	return tally_node(tallies, aggregates_node(ctx->aggregates, cell->process));
}

struct tally *tally_owner(const struct rule_ctx *ctx, struct tallies *tallies,
			  const struct traffic_cell *cell)
{
	return tally_node(tallies, aggregates_node(ctx->aggregates, cell_owner(cell)));
}

struct tally *tallies_find(const struct rule_ctx *ctx, const struct tallies *tallies,
			   const struct traffic_cell *cell)
{
	const struct node *from = aggregates_node(ctx->aggregates, cell->process);
	const struct node *to = aggregates_node(ctx->aggregates, cell->peer);
	const uint64_t *at = cell_inter(cell)
				     ? map_find(&tallies->index, (uintptr_t)from, (uintptr_t)to)
				     : map_find(&tallies->index, (uintptr_t)(from ? from : to), 0);

	return at && *at ? &tallies->list.data[*at - 1] : NULL;
}

void tally_examples(struct tally *tally, const struct traffic_cell *cell)
{
	for (size_t i = 0; i < cell->example_count; i++)
		if (tally->example_count < FINDING_EXAMPLES)
			tally->examples[tally->example_count++] = cell_example(cell, i);
}

/* A cell counts as wrong or right, with its examples where it is wrong. */
static void tally_add(struct tally *tally, const struct traffic_cell *cell, bool wrong)
{
	tally->all_count += cell->count;
	tally->all_bytes += cell->bytes;
	tally->unknown += cell->transport ? 0 : cell->bytes;
	if (!wrong)
		return;
	tally->count += cell->count;
	tally->bytes += cell->bytes;
	if (!tally->worst || cell->bytes > tally->worst->bytes)
		tally->worst = cell;
	tally_examples(tally, cell);
}

/* The same, of a cell that the rule may be about. */
static void tally_maybe(struct tally *tally, const struct traffic_cell *cell, bool wrong)
{
	tally->maybe.unknown += cell->transport ? 0 : cell->bytes;
	tally->maybe.all_count += cell->count;
	tally->maybe.all_bytes += cell->bytes;
	tally->maybe.count += wrong ? cell->count : 0;
	tally->maybe.bytes += wrong ? cell->bytes : 0;
}

static void tally_measure(const struct rule_ctx *ctx, struct tally *tally,
			  const struct cell_rule *rule, const struct traffic_cell *cell,
			  struct cell_answer answer)
{
	bool sure = answer.about == FITS;

	if (sure)
		tally_add(tally, cell, answer.wrong);
	else
		tally_maybe(tally, cell, answer.wrong);
	if (rule->phrase && sure && answer.wrong && !tally->seen)
		tally->seen = rule->phrase(ctx, cell);
	if (rule->undecided && !answer.wrong && !tally->undecided)
		tally->undecided = rule->undecided(ctx, cell);
}

void tallies_measure(const struct rule_ctx *ctx, struct tallies *tallies,
		     const struct cell_rule *rule)
{
	const struct aggregates *aggregates = ctx->aggregates;

	for (size_t i = 0; i < aggregates->cells.len; i++) {
		const struct traffic_cell *cell = &aggregates->cells.data[i];
		struct cell_answer answer = rule->measure(ctx, cell);

		if (answer.about != FITS_NOT)
			tally_measure(ctx, rule->group(ctx, tallies, cell), rule, cell, answer);
	}
}

static double share(uint64_t bytes, uint64_t all_bytes, uint64_t count, uint64_t all_count)
{
	if (all_bytes)
		return (double)bytes / all_bytes;
	return all_count ? (double)count / all_count : 0;
}

double tally_share(const struct tally *tally)
{
	return share(tally->bytes, tally->all_bytes, tally->count, tally->all_count);
}

/*
 * The share of wrong ones if the rule covers all that may be right; below, if it covers only those
 * that may be wrong.
 */
static double least_share(const struct tally *tally)
{
	return share(tally->bytes, tally->all_bytes + tally->maybe.all_bytes, tally->count,
		     tally->all_count + tally->maybe.all_count);
}

static double most_share(const struct tally *tally)
{
	return share(tally->bytes + tally->maybe.bytes, tally->all_bytes + tally->maybe.bytes,
		     tally->count + tally->maybe.count, tally->all_count + tally->maybe.count);
}

static enum verdict verdict_of(const struct tally *tally, double allowed)
{
	if (tally->count && !tally->spared && least_share(tally) > allowed)
		return VERDICT_FAIL;
	if (tally->count + tally->maybe.count && most_share(tally) > allowed)
		return VERDICT_UNKNOWN;
	return VERDICT_PASS;
}

const char *why_unsized(const struct rule_ctx *ctx, uint64_t bytes)
{
	return say(ctx->judge, "sizes of messages are not known for %s",
		   say_bytes(ctx->judge, bytes));
}

/* Bytes of unknown transport may break the rule: beyond COV-05's share PASS becomes UNKNOWN. */
static void doubt(const struct rule_ctx *ctx, const struct tally *tally, struct finding *finding)
{
	double most = ctx->settings->cov_05.share;
	uint64_t unknown = tally->unknown, all_bytes = tally->all_bytes;

	if (finding->verdict != VERDICT_PASS)
		return;
	if (unknown <= most * all_bytes) {
		unknown += tally->maybe.unknown;
		all_bytes += tally->maybe.all_bytes;
	}
	if (unknown <= most * all_bytes)
		return;
	finding->verdict = VERDICT_UNKNOWN;
	finding->why = say(ctx->judge, "the transport of %s of %s is not known (COV-05)",
			   say_bytes(ctx->judge, unknown), say_bytes(ctx->judge, all_bytes));
}

void tallies_judge(const struct rule_ctx *ctx, struct tallies *tallies, double allowed,
		   const char *expected)
{
	for (size_t i = 0; i < tallies->list.len; i++) {
		const struct tally *tally = &tallies->list.data[i];
		enum verdict verdict = verdict_of(tally, allowed);
		bool fails = verdict == VERDICT_FAIL;
		struct finding *finding = found(ctx, verdict, tally->subject);

		finding->expected = expected;
		finding->share = tally_share(tally);
		finding->count = fails ? tally->count : tally->all_count + tally->maybe.all_count;
		finding->bytes = fails ? tally->bytes : tally->all_bytes + tally->maybe.all_bytes;
		if (verdict == VERDICT_UNKNOWN)
			finding->why = why_unsized(ctx, tally->maybe.all_bytes);
		doubt(ctx, tally, finding);
		if (finding->verdict == VERDICT_PASS && tally->undecided) {
			finding->verdict = VERDICT_UNKNOWN;
			finding->why = tally->undecided;
		}
		if (!fails)
			continue;
		if (tally->critical)
			finding->severity = SEVERITY_CRITICAL;
		finding->seen = tally->seen ? tally->seen : cell_text(ctx, tally->worst);
		finding->example_count = tally->example_count;
		memcpy(finding->examples, tally->examples, sizeof(finding->examples));
	}
	tallies_release(tallies);
}

void cells_judge(const struct rule_ctx *ctx, const struct cell_rule *rule)
{
	struct tallies tallies = { 0 };

	tallies_measure(ctx, &tallies, rule);
	for (size_t i = 0; rule->adjust && i < tallies.list.len; i++)
		rule->adjust(ctx, &tallies.list.data[i]);
	tallies_judge(ctx, &tallies, rule->allowed, rule->expected);
}
