// SPDX-License-Identifier: BSD-3-Clause
/* Whether the software is one on all nodes: COV-06, CFG-01. */
#include <string.h>

#include "base/alloc.h"
#include "site/judge/rules/rules.h"

/* The software of one process. */
struct piece {
	const struct node *node;
	const char *own;
};

static int by_node(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;
	int order = (a->node > b->node) - (a->node < b->node);

	return order ? order : strcmp(a->own, b->own);
}

/* "1.13.1"; "a, b" where they differ, whichever process came first. */
static void add_text(struct judge *judge, const char **text, const char *own)
{
	*text = *text ? say(judge, "%s, %s", *text, own) : own;
}

/*
 * The software of each node's processes, each version once; NULL: none. The caller frees the list.
 */
static const char **software_of_nodes(struct judge *judge,
				      const char *(*part)(struct judge *, const struct member *))
{
	const struct aggregates *aggregates = &judge->aggregates;
	const char **software = xcalloc(aggregates->nodes.len + 1, sizeof(*software));
	VEC(struct piece) pieces = { 0 };

	for (size_t i = 0; i < aggregates->members.len; i++) {
		const struct node *node = aggregates_node(aggregates, i);
		const char *own = node ? part(judge, &aggregates->members.data[i]) : NULL;

		if (own)
			vec_push(&pieces, ((struct piece){ node, own }));
	}
	if (pieces.len)
		qsort(pieces.data, pieces.len, sizeof(*pieces.data), by_node);
	for (size_t i = 0; i < pieces.len; i++)
		if (!i || by_node(&pieces.data[i - 1], &pieces.data[i]))
			add_text(judge, &software[pieces.data[i].node - aggregates->nodes.data],
				 pieces.data[i].own);
	vec_release(&pieces);
	return software;
}

static const char *build_of(struct judge *judge, const struct member *member)
{
	return member->ucx.len ? say(judge, "%s",
				     member->ucx.data[0].build_id ? member->ucx.data[0].build_id
								  : "no build id")
			       : NULL;
}

static const char *versions_of(struct judge *judge, const struct member *member)
{
	const char *ucx = member->ucx.len ? member->ucx.data[0].version : NULL;

	if (!member->fact.mpi && !ucx)
		return NULL;
	return say(judge, "%s UCX %s", member->fact.mpi ? member->fact.mpi : "no MPI",
		   ucx ? ucx : "?");
}

static void judge_node(const struct rule_ctx *ctx, const struct node *node, const char *software,
		       const char *usual)
{
	bool fails = strcmp(usual, software) != 0;
	struct finding *finding;

	/* "UCX ?": the tracer did not get to see it */
	if (fails && strchr(software, '?')) {
		found_why(ctx, VERDICT_UNKNOWN, subject_node(node->name),
			  say(ctx->judge, "not all of its software was seen: %s", software));
		return;
	}
	finding = found(ctx, fails ? VERDICT_FAIL : VERDICT_PASS, subject_node(node->name));
	finding->expected = usual;
	finding->seen = fails ? software : NULL;
}

static void same_on_all(const struct rule_ctx *ctx,
			const char *(*part)(struct judge *, const struct member *))
{
	const struct aggregates *aggregates = ctx->aggregates;
	const char **software = software_of_nodes(ctx->judge, part);
	struct entries entries = { 0 };
	struct map usual = { 0 };

	for (size_t i = 0; i < aggregates->nodes.len; i++)
		if (software[i] && aggregates->nodes.data[i].name)
			vec_push(&entries.list,
				 ((struct entry){ aggregates->nodes.data[i].class, software[i],
						  &aggregates->nodes.data[i] }));
	find_usual(&entries, &usual);
	for (size_t i = 0; i < aggregates->nodes.len; i++) {
		const struct node *node = &aggregates->nodes.data[i];
		const uint64_t *best = map_find(&usual, (uintptr_t)node->class, 0);

		if (node->name && software[i])
			judge_node(ctx, node, software[i], entries.list.data[*best - 1].what);
	}
	vec_release(&entries.list);
	map_release(&usual);
	free(software);
}

/* Reports the first process of each node that has two copies: chance decides which one is used. */
static void find_copies(const struct aggregates *aggregates, struct map *copies)
{
	for (size_t i = 0; i < aggregates->members.len; i++) {
		const struct node *node = aggregates_node(aggregates, i);
		uint64_t *first;

		if (!node || aggregates->members.data[i].ucx.len < 2)
			continue;
		first = map_insert(copies, (uintptr_t)node->name, 0, NULL);
		if (!*first)
			*first = i + 1;
	}
}

static const char *copies_text(const struct rule_ctx *ctx, const struct member *member)
{
	return say(ctx->judge, "pid %u has %s and %s", member->fact.pid, member->ucx.data[0].path,
		   member->ucx.data[1].path);
}

void rule_one_library(const struct rule_ctx *ctx)
{
	const struct aggregates *aggregates = ctx->aggregates;
	struct map copies = { 0 };

	find_copies(aggregates, &copies);
	same_on_all(ctx, build_of);
	for (size_t i = ctx->from; i < ctx->judge->findings.len; i++) {
		struct finding *finding = &ctx->judge->findings.data[i];
		const uint64_t *first = map_find(&copies, (uintptr_t)finding->subject.node, 0);

		if (!first)
			continue;
		finding->verdict = VERDICT_FAIL;
		finding->seen = copies_text(ctx, &aggregates->members.data[*first - 1]);
	}
	map_release(&copies);
	if (!aggregates->members.len)
		found_nothing(ctx, VERDICT_UNKNOWN,
			      "no process with UCX or MPI is in the captures");
}

/* ---- one finding per node ---- */

static int gravity(const struct finding *finding)
{
	static const int of[VERDICTS] = {
		[VERDICT_PASS] = 1, [VERDICT_UNKNOWN] = 2, [VERDICT_FAIL] = 3
	};

	return of[finding->verdict];
}

static const char *both(struct judge *judge, const char *one, const char *other)
{
	return one && other ? say(judge, "%s; %s", one, other) : one ? one : other;
}

static void join(struct judge *judge, struct finding *to, struct finding other)
{
	if (gravity(&other) > gravity(to)) {
		struct finding less = *to;

		*to = other;
		other = less;
	}
	if (to->verdict == other.verdict) {
		to->expected = both(judge, to->expected, other.expected);
		to->seen = both(judge, to->seen, other.seen);
		to->why = both(judge, to->why, other.why);
	} else if (other.why && to->verdict == VERDICT_UNKNOWN) {
		to->why = both(judge, to->why, other.why);
	} else if (other.why) {
		to->seen = both(judge, to->seen, other.why);
	}
}

/*
 * Joins findings of one subject. All findings since then have a node's own name for their subject,
 * or are about all captures.
 */
static void join_subjects(struct judge *judge, size_t from)
{
	struct map first = { 0 }; /* subject -> 1 + position */
	size_t to = from;

	for (size_t i = from; i < judge->findings.len; i++) {
		struct finding finding = judge->findings.data[i];
		uint64_t *at = map_insert(&first, (uintptr_t)finding.subject.text, 0, NULL);

		if (*at) {
			join(judge, &judge->findings.data[*at - 1], finding);
			continue;
		}
		judge->findings.data[to++] = finding;
		*at = to;
	}
	judge->findings.len = to;
	map_release(&first);
}

void rule_versions(const struct rule_ctx *ctx)
{
	same_on_all(ctx, versions_of);
	if (!found_any(ctx))
		found_nothing(ctx, VERDICT_SKIP, "no process has MPI or UCX");
	environments_judge(ctx);
	join_subjects(ctx->judge, ctx->from);
}
