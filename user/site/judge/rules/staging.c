// SPDX-License-Identifier: BSD-3-Clause
/*
 * The memory that messages passed through, from buffer to buffer: 'staging' and 'dst_copy' of
 * PATH-01, PATH-04, PATH-06, PATH-07.
 */
#include <stdio.h>
#include <string.h>

#include "site/judge/rules/rules.h"
#include "site/judge/rules/tally.h"

struct way_question {
	/* cell: of the message's ends, without what carried it */
	bool (*about)(const struct rule_ctx *ctx, const struct traffic_cell *cell, const void *arg);
	bool (*wrong)(const struct sum *way, const void *arg); /* of one whose way is known */
	const void *arg;
	double allowed; /* share of the bytes that may be wrong, or not known */
	const char *expected;
};

/* A question about ways, and its sums. */
struct inquiry {
	const struct way_question *question;
	struct tallies known; /* the wrong ones, of those whose way is known */
	struct tallies unknown; /* those whose way is not, of all; by the same positions */
	VEC(const struct sum *) worst; /* of known; NULL: none is wrong */
};

static struct traffic_cell cell_of_way(const struct aggregates *aggregates, const struct sum *way)
{
	const struct node *from = aggregates_node(aggregates, way->process);
	const struct node *to = aggregates_node(aggregates, way->peer);
	enum fact_locality locality = LOCALITY_UNKNOWN;

	if (way->process == way->peer)
		locality = LOCALITY_SELF;
	else if (from && to)
		locality = from == to ? LOCALITY_NODE : LOCALITY_REMOTE;
	return (struct traffic_cell){
		.process = way->process,
		.peer = way->peer,
		.src_mem = way->words[WAY_SRC_MEM],
		.dst_mem = way->words[WAY_DST_MEM],
		.locality = locality,
		.size_class = way->size_class,
	};
}

static bool begins(const char *at, const char *word)
{
	size_t length = strlen(word);

	return !strncmp(at, word, length) && (!at[length] || at[length] == ',');
}

/* Host memory between both buffers: "gpu0,host,gpu1". */
static bool way_staged(const struct sum *way)
{
	const char *chain = way->words[WAY_CHAIN];

	for (const char *at = strchr(chain, ','); at && strchr(at + 1, ',');
	     at = strchr(at + 1, ','))
		if (begins(at + 1, "host") || begins(at + 1, "pinned"))
			return true;
	return false;
}

/* Whether the last of several hops, into the receiver's buffer, used a transport. */
static bool way_copied_by(const struct sum *way, const char *transport)
{
	const char *last = strrchr(way->words[WAY_VIA], ',');

	return last && !strcmp(last + 1, transport);
}

/* Any of what carried it. */
static bool way_uses(const struct sum *way, const char *transport)
{
	for (const char *at = way->words[WAY_VIA]; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (begins(at, transport))
			return true;
	}
	return false;
}

static void count(struct tally *tally, const struct sum *way, bool wrong, const char *seen)
{
	tally->all_count += way->count;
	tally->all_bytes += way->bytes;
	if (!wrong)
		return;
	tally->count += way->count;
	tally->bytes += way->bytes;
	if (!tally->seen)
		tally->seen = seen;
}

static void add(const struct rule_ctx *ctx, struct inquiry *inquiry, const struct sum *way,
		const struct traffic_cell *cell)
{
	bool known = way->words[WAY_CHAIN];
	bool wrong = known && inquiry->question->wrong(way, inquiry->question->arg);
	struct tally *tally = tally_cell(ctx, &inquiry->unknown, cell);
	size_t at;

	count(tally, way, !known, way->words[WAY_REASON]);
	tally = tally_cell(ctx, &inquiry->known, cell);
	count(tally, way, wrong, NULL);
	at = tally - inquiry->known.list.data;
	if (at == inquiry->worst.len)
		vec_push(&inquiry->worst, NULL);
	if (wrong && (!inquiry->worst.data[at] || way->bytes > inquiry->worst.data[at]->bytes))
		inquiry->worst.data[at] = way;
}

/* Whether a transfer goes from one memory of the way to the next one. */
static bool is_part(const struct traffic_cell *cell, const struct sum *way)
{
	char hop[64];

	if (cell->process != way->process || cell->peer != way->peer ||
	    cell->size_class != way->size_class || !cell->src_mem || !cell->dst_mem)
		return false;
	snprintf(hop, sizeof(hop), "%s,%s", cell->src_mem, cell->dst_mem);
	return strstr(way->words[WAY_CHAIN], hop);
}

/* Describes the worst way of each subject, with transfers of such messages. */
static void describe(const struct rule_ctx *ctx, struct inquiry *inquiry)
{
	const struct aggregates *aggregates = ctx->aggregates;

	for (size_t i = 0; i < inquiry->worst.len; i++) {
		const struct sum *way = inquiry->worst.data[i];

		if (way)
			inquiry->known.list.data[i].seen =
				say(ctx->judge, "%s over %s", way->words[WAY_CHAIN],
				    way->words[WAY_VIA]);
	}
	for (size_t i = 0; i < aggregates->cells.len; i++) {
		const struct traffic_cell *cell = &aggregates->cells.data[i];
		struct tally *tally =
			cell_placed(cell) ? tallies_find(ctx, &inquiry->known, cell) : NULL;
		const struct sum *way =
			tally ? inquiry->worst.data[tally - inquiry->known.list.data] : NULL;

		if (way && is_part(cell, way))
			tally_examples(tally, cell);
	}
}

/* PASS becomes UNKNOWN where too many bytes went an unknown way. */
static void doubt(const struct rule_ctx *ctx, const struct inquiry *inquiry, size_t before)
{
	for (size_t i = 0; i < inquiry->unknown.list.len; i++) {
		const struct tally *tally = &inquiry->unknown.list.data[i];
		struct finding *finding = &ctx->judge->findings.data[before + i];

		if (finding->verdict != VERDICT_PASS || !tally->count ||
		    tally_share(tally) <= inquiry->question->allowed)
			continue;
		finding->verdict = VERDICT_UNKNOWN;
		finding->why = say(ctx->judge, "the way of %lu B of %lu is not known: %s",
				   (unsigned long)tally->bytes, (unsigned long)tally->all_bytes,
				   tally->seen);
	}
}

/* A finding per node or pair of nodes. */
static void ask_ways(const struct rule_ctx *ctx, const struct way_question *question)
{
	const struct aggregates *aggregates = ctx->aggregates;
	size_t before = ctx->judge->findings.len;
	struct inquiry inquiry = { .question = question };

	for (size_t i = 0; i < aggregates->sums.list.len; i++) {
		const struct sum *way = &aggregates->sums.list.data[i];
		struct traffic_cell cell = cell_of_way(aggregates, way);

		if (way->kind == SUM_WAY && cell_placed(&cell) &&
		    question->about(ctx, &cell, question->arg))
			add(ctx, &inquiry, way, &cell);
	}
	describe(ctx, &inquiry);
	tallies_judge(ctx, &inquiry.known, question->allowed, question->expected);
	doubt(ctx, &inquiry, before);
	tallies_release(&inquiry.unknown);
	vec_release(&inquiry.worst);
}

/* ---- rules ---- */

static bool of_gpu(const struct traffic_cell *cell)
{
	return is_gpu(cell->src_mem) || is_gpu(cell->dst_mem);
}

/* ---- PATH-01 ---- */

static bool fits(const struct rule_ctx *ctx, const struct traffic_cell *cell, const void *expect)
{
	return expectation_fits(ctx->aggregates, cell, expect) == FITS;
}

static bool breaks(const struct sum *way, const void *arg)
{
	const struct policy_expect *expect = arg;

	if (expect->staging != STAGING_ANY && way_staged(way) != (expect->staging == STAGING_HOST))
		return true;
	return expect->dst_copy && !way_copied_by(way, expect->dst_copy);
}

static const char *expect_text(const struct rule_ctx *ctx, const struct policy_expect *expect)
{
	const char *copy =
		expect->dst_copy
			? say(ctx->judge, "copied to the receiver's buffer by %s", expect->dst_copy)
			: NULL;
	const char *staging = expect->staging == STAGING_NONE ? "no host memory between the buffers"
			      : expect->staging == STAGING_HOST ? "staged through host memory"
								: NULL;

	return say(ctx->judge, "%s%s%s (line %d)", staging ? staging : "",
		   staging && copy ? ", " : "", copy ? copy : "", expect->line);
}

void ways_judge(const struct rule_ctx *ctx, const struct policy_expect *expect)
{
	ask_ways(ctx, &(struct way_question){
			      .about = fits,
			      .wrong = breaks,
			      .arg = expect,
			      .allowed = 1 - expect->min_share,
			      .expected = expect_text(ctx, expect),
		      });
}

/* ---- PATH-04 ---- */

static bool gpus_of_a_node(const struct rule_ctx *ctx, const struct traffic_cell *cell,
			   const void *arg)
{
	(void)arg;
	return cell_intra(cell) && is_gpu(cell->src_mem) && is_gpu(cell->dst_mem) &&
	       cell_at_least(ctx->aggregates, cell, ctx->settings->path_04.size);
}

static bool not_cuda_ipc(const struct sum *way, const void *arg)
{
	(void)arg;
	return !way_uses(way, "cuda_ipc");
}

void rule_cuda_ipc(const struct rule_ctx *ctx)
{
	ask_ways(ctx, &(struct way_question){
			      .about = gpus_of_a_node,
			      .wrong = not_cuda_ipc,
			      .allowed = 1 - ctx->settings->path_04.share,
			      .expected = "cuda_ipc",
		      });
}

/* ---- PATH-06 ---- */

static bool small_of_gpu(const struct rule_ctx *ctx, const struct traffic_cell *cell,
			 const void *arg)
{
	(void)arg;
	return of_gpu(cell) && !cell_at_least(ctx->aggregates, cell, ctx->settings->path_06.size);
}

static bool copied_by_driver(const struct sum *way, const void *arg)
{
	(void)arg;
	return way_uses(way, "cuda_copy");
}

void rule_gdr_copy(const struct rule_ctx *ctx)
{
	ask_ways(ctx, &(struct way_question){
			      .about = small_of_gpu,
			      .wrong = copied_by_driver,
			      .expected = "gdr_copy",
		      });
}

/* ---- PATH-07 ---- */

static bool large_between_nodes(const struct rule_ctx *ctx, const struct traffic_cell *cell,
				const void *arg)
{
	(void)arg;
	return cell_inter(cell) && of_gpu(cell) &&
	       cell_at_least(ctx->aggregates, cell, ctx->settings->path_07.size);
}

static bool is_staged(const struct sum *way, const void *arg)
{
	(void)arg;
	return way_staged(way);
}

void rule_staging(const struct rule_ctx *ctx)
{
	ask_ways(ctx, &(struct way_question){
			      .about = large_between_nodes,
			      .wrong = is_staged,
			      .expected = "zcopy from and to GPU memory",
		      });
}
