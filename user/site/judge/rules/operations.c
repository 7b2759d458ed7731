// SPDX-License-Identifier: BSD-3-Clause
/*
 * RAIL-03, PATH-10, PROTO-03, PROTO-04: how messages are divided, what UCX took buffers for, whose
 * memory collectives move, which was freed too early.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "site/judge/rules/tally.h"

static const char *or_unknown(const char *word)
{
	return word ? word : "?";
}

/* A rule that counts sums of one kind by node, some of them wrong. */
struct sum_counting {
	enum sum_kind kind;
	void (*take)(const struct rule_ctx *ctx, struct tally *tally, const struct sum *sum);
	void (*settle)(const struct rule_ctx *ctx,
		       struct tally *tally); /* of which some was taken */
};

static void judge_sums(const struct rule_ctx *ctx, const struct sum_counting *counting)
{
	const struct aggregates *aggregates = ctx->aggregates;
	struct tally *tallies = xcalloc(aggregates->nodes.len + 1, sizeof(*tallies));

	for (size_t i = 0; i < aggregates->nodes.len; i++)
		tallies[i].subject = subject_node(aggregates->nodes.data[i].name);
	for (size_t i = 0; i < aggregates->sums.list.len; i++) {
		const struct sum *sum = &aggregates->sums.list.data[i];
		const struct node *node = aggregates_node(aggregates, sum->process);

		if (sum->kind == counting->kind && node)
			counting->take(ctx, &tallies[node - aggregates->nodes.data], sum);
	}
	for (size_t i = 0; i < aggregates->nodes.len; i++)
		if (tallies[i].all_count)
			counting->settle(ctx, &tallies[i]);
	free(tallies);
}

static void add(struct tally *tally, const struct sum *sum, bool wrong)
{
	tally->all_count += sum->count;
	tally->all_bytes += sum->bytes;
	if (!wrong)
		return;
	tally->count += sum->count;
	tally->bytes += sum->bytes;
}

/* A finding of a node of which something was counted. */
static struct finding *found_count(const struct rule_ctx *ctx, const struct tally *tally,
				   bool fails, const char *expected)
{
	struct finding *finding = found(ctx, fails ? VERDICT_FAIL : VERDICT_PASS, tally->subject);

	finding->expected = expected;
	finding->count = fails ? tally->count : tally->all_count;
	finding->bytes = fails ? tally->bytes : tally->all_bytes;
	finding->seen = fails ? tally->seen : NULL;
	finding->share = tally_share(tally);
	return finding;
}

/* ---- PATH-10 ---- */

/*
 * GPU memory that UCX takes for the host's is read by the CPU, and memory of the host that it takes
 * for a GPU's by the GPU.
 */
static bool mistaken(const char *memory, const char *taken_as)
{
	bool host = !strcmp(memory, "host") || !strcmp(memory, "pinned");

	return host ? strcmp(taken_as, "host") != 0 : !strcmp(taken_as, "host");
}

static void take_memory(const struct rule_ctx *ctx, struct tally *tally, const struct sum *sum)
{
	bool wrong;

	if (!sum->words[0] || !sum->words[1])
		return;
	wrong = mistaken(sum->words[0], sum->words[1]);
	add(tally, sum, wrong);
	if (wrong && !tally->seen)
		tally->seen =
			say(ctx->judge, "%s (by %s) treated as %s, %s in %s", sum->words[0],
			    or_unknown(sum->words[4]), sum->words[1], or_unknown(sum->words[2]),
			    sum->words[3] ? sum->words[3] : "no MPI call");
}

static void settle_memory(const struct rule_ctx *ctx, struct tally *tally)
{
	found_count(ctx, tally, tally->count,
		    "UCX treats memory as the GPU's library allocated it");
}

void rule_memory_type(const struct rule_ctx *ctx)
{
	static const struct sum_counting counting = { SUM_TAKEN, take_memory, settle_memory };

	judge_sums(ctx, &counting);
}

/* ---- PROTO-03 ---- */

/*
 * A collective whose operations are of both memories: it has a GPU's buffer, and goes by the
 * host's. Where all are the host's, the program's own buffer may be, too: MPI's arguments are not
 * captured.
 */
static void take_collective(const struct rule_ctx *ctx, struct tally *tally, const struct sum *sum)
{
	(void)ctx;
	if (!strcmp(sum->words[1], "host"))
		return;
	tally->all_count += sum->count;
	tally->all_bytes += sum->bytes;
	tally->bytes += sum->extra;
	tally->count += sum->extra ? sum->count : 0;
	if (sum->extra && !tally->seen)
		tally->seen = sum->words[0];
}

static void settle_collectives(const struct rule_ctx *ctx, struct tally *tally)
{
	if (tally->seen)
		tally->seen =
			say(ctx->judge, "%lu B of host memory beside %lu B of GPU memory, in %s",
			    (unsigned long)tally->bytes,
			    (unsigned long)(tally->all_bytes - tally->bytes), tally->seen);
	found_count(ctx, tally, tally_share(tally) > ctx->settings->proto_03.share,
		    "a collective of GPU buffers moves GPU memory");
}

void rule_collective_memory(const struct rule_ctx *ctx)
{
	static const struct sum_counting counting = { SUM_COLLECTIVE, take_collective,
						      settle_collectives };

	judge_sums(ctx, &counting);
}

/* ---- RAIL-03 ---- */

static void take_spread(const struct rule_ctx *ctx, struct tally *tally, const struct sum *sum)
{
	double own = sum->bytes ? (double)sum->extra / sum->bytes : 1;

	tally->all_count += sum->count;
	tally->all_bytes += sum->bytes;
	tally->bytes += sum->extra;
	if (own <= ctx->settings->rail_03.max_over_mean)
		return;
	tally->count += sum->count;
	if (!tally->seen)
		tally->seen = say(ctx->judge, "fragments over %s", sum->words[0]);
}

static void settle_spread(const struct rule_ctx *ctx, struct tally *tally)
{
	double most = ctx->settings->rail_03.max_over_mean;
	double ratio = tally->all_bytes ? (double)tally->bytes / tally->all_bytes : 1;
	struct finding *finding = found_count(ctx, tally, ratio > most,
					      say(ctx->judge, "max/mean at most %.2f", most));

	finding->bytes = tally->all_bytes;
	finding->share = NAN;
	if (finding->verdict == VERDICT_FAIL)
		finding->seen =
			say(ctx->judge, "max/mean %.2f: %s", ratio, or_unknown(tally->seen));
}

void rule_fragments(const struct rule_ctx *ctx)
{
	static const struct sum_counting counting = { SUM_SPREAD, take_spread, settle_spread };

	judge_sums(ctx, &counting);
}

/* ---- PROTO-04 ---- */

/* The sums of a process are adjacent: one finding for all of them shows the most frequent one. */
void rule_freed(const struct rule_ctx *ctx)
{
	const struct sums *sums = &ctx->aggregates->sums;
	struct finding *finding = NULL;
	int process = -1;
	uint64_t most = 0;

	for (size_t i = 0; i < sums->list.len; i++) {
		const struct sum *sum = &sums->list.data[i];

		if (sum->kind != SUM_FREED)
			continue;
		if (!finding || sum->process != process) {
			process = sum->process;
			finding = found(ctx, VERDICT_FAIL, process_subject(ctx, process));
			finding->expected = "operations done before ucp_mem_unmap()";
			finding->share = NAN;
			most = 0;
		}
		finding->count += sum->count;
		finding->bytes += sum->bytes;
		if (sum->count <= most)
			continue;
		most = sum->count;
		finding->seen =
			say(ctx->judge, "%s%s%s at %s", sum->words[0], sum->words[1] ? " in " : "",
			    sum->words[1] ? sum->words[1] : "", or_unknown(sum->words[2]));
	}
	if (finding || !ctx->aggregates->totals.unmapped)
		return;
	if (ctx->aggregates->totals.freed_unsure) {
		found_why(ctx, VERDICT_UNKNOWN, subject_captures(),
			  "it is unknown when some operations in freed memory ended");
		return;
	}
	finding = found(ctx, VERDICT_PASS, subject_captures());
	finding->count = ctx->aggregates->totals.unmapped;
	finding->share = NAN;
}
